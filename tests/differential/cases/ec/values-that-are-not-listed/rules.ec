initially(f1=hi).
holdsFor(s2=V, I) :- holdsFor(f1=V, I).
grounding(s2=mid).
