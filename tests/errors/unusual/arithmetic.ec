initiatedAt(turns(X)=Side, T) :-
    happensAt(velocity(X, H, C), T),
    D is (H - C + 540) mod 360 - 180, abs(D) > 5, sign(D) =:= S,
    side(S, Side).
initiatedAt(late(X)=true, T) :- happensAt(arrives(X, Due), T), T > Due, T - Due >= 60.
initiatedAt(half(X)=true, T) :- happensAt(share(X, P), T), P =:= pi / 2, 10 // 3 =< P.
side(1, left). side(-1, right).
