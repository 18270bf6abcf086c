// Why an interval holds: the proofs that came with the results, opened from the timeline.
function proofOf(i, row) {
  const key = [facts.fluents[row.fluent], row.names.join("|"), facts.values[columns.value[i]], columns.start[i]].join("\n");
  return Object.hasOwn(facts.proofs, key) ? byId(`why-${facts.proofs[key]}`) : null;
}

function showProof(i, row) {
  const found = proofOf(i, row);
  if (!found) return;
  for (const other of byId("proofs").querySelectorAll(":scope > details[open]")) other.open = other === found;
  found.open = true;
  found.scrollIntoView({block: "nearest"});
}

const whyLines = (i, row) => proofOf(i, row) ? ["Click to see why"] : [];
