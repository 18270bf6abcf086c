% A person's day: where people are, whether they are rich, and when they are happy.

% ---- Input: go_to(Person, Place), win_lottery(Person), lose_wallet(Person) ----

dynamicDomain(person(_)).

place(home).
place(pub).
place(work).

grounding(go_to(Person, Place))  :- person(Person), place(Place).
grounding(win_lottery(Person))   :- person(Person).
grounding(lose_wallet(Person))   :- person(Person).

% ---- Location: a person is at the place of the last move ----

grounding(location(Person)=Place) :- person(Person), place(Place).

initiatedAt(location(Person)=Place, T) :-
    happensAt(go_to(Person, Place), T).

% ---- Rich: from winning the lottery until the wallet is lost ----

grounding(rich(Person)=true) :- person(Person).

initiatedAt(rich(Person)=true, T) :-
    happensAt(win_lottery(Person), T).

terminatedAt(rich(Person)=true, T) :-
    happensAt(lose_wallet(Person), T).

% ---- Happy: while rich or in the pub ----

grounding(happy(Person)=true) :- person(Person).

holdsFor(happy(Person)=true, I) :-
    holdsFor(rich(Person)=true, Rich),
    holdsFor(location(Person)=pub, InPub),
    union_all([Rich, InPub], I).
