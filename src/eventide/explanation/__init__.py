"""Why a result holds, and why not: proofs down to the input facts. See `explain` in `explanation.asking`."""
