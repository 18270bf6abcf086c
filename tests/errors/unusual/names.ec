% Names that look like words of other languages, in quotes or not.
initiatedAt('high-speed'(X)=true, T) :- happensAt('vessel.fast'(X), T).
initiatedAt(select(X)=from, T) :- happensAt(insert(X), T), where(X), \+ holdsAt(delete(X)='True', T).
initiatedAt(delete(X)='True', T) :- happensAt(update(X), T).
initiatedAt(größe(Länge)=true, T) :- happensAt(messung(Länge), T).
initiatedAt('it''s'("a \"b\"")=true, T) :- happensAt(rain, T).
initiatedAt(mod(X)=is, T) :- happensAt(e(X), T).
where(a). def(return, class). when(x). unless(1). in(a, [b]) :- fail.
if(a). and(b). or(c). s. min. h(1).
