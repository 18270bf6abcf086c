% NetBill: consumers and merchants negotiate quotes for digital goods and are bound by short contracts.
%
% Background relation:
%   goods(Goods, Price)

% ---- Input ----

% Agents are known by what they send; pairs (merchant, consumer) by their messages to each other.
dynamicDomain(agent(_)).
dynamicDomain(partners(_, _)).

grounding(request_quote(C, M, _Goods))                   :- partners(M, C).
grounding(present_quote(M, C, _Goods, _Price))           :- partners(M, C).
grounding(accept_quote(C, M, _Goods))                    :- partners(M, C).
grounding(send_EPO(C, _Server, _Goods, _Price))          :- agent(C).
grounding(send_goods(M, _Server, _Goods, _Package, _Key)) :- agent(M).

% ---- Roles: an agent may be consumer, merchant, both or neither ----

consumer(A) :- agent(A), A mod 3 > 0.
merchant(A) :- agent(A), A mod 2 =:= 0.

role(A, consumer) :- consumer(A).
role(A, merchant) :- merchant(A).

trade(M, C) :- partners(M, C), merchant(M), consumer(C), M =\= C.

% ---- Quote: from its presentation until it is accepted, or until 5 after the last presentation ----

grounding(quote(M, C, G)=true)  :- trade(M, C), goods(G, _).
grounding(quote(M, C, G)=false) :- trade(M, C), goods(G, _).

initiatedAt(quote(M, C, G)=true, T) :-
    happensAt(present_quote(M, C, G, _), T).

terminatedAt(quote(M, C, G)=true, T) :-
    happensAt(accept_quote(C, M, G), T).

fi(quote(M, C, G)=true, quote(M, C, G)=false, 5).
p(quote(_, _, _)=true).

% ---- Permission to present a quote: lost by presenting one, regained on request or after 10 ----

grounding(per(present_quote(M, C))=true)  :- trade(M, C).
grounding(per(present_quote(M, C))=false) :- trade(M, C).

initiatedAt(per(present_quote(M, C))=false, T) :-
    happensAt(present_quote(M, C, _, _), T).

initiatedAt(per(present_quote(M, C))=true, T) :-
    happensAt(request_quote(C, M, _), T).

fi(per(present_quote(M, C))=false, per(present_quote(M, C))=true, 10).
p(per(present_quote(_, _))=false).

% ---- Contract: for 5 after a standing quote is accepted, if neither party is suspended ----

grounding(contract(M, C, G)=true)  :- trade(M, C), goods(G, _).
grounding(contract(M, C, G)=false) :- trade(M, C), goods(G, _).

initiatedAt(contract(M, C, G)=true, T) :-
    happensAt(accept_quote(C, M, G), T),
    holdsAt(quote(M, C, G)=true, T),
    \+ holdsAt(suspended(M, merchant)=true, T),
    \+ holdsAt(suspended(C, consumer)=true, T).

fi(contract(M, C, G)=true, contract(M, C, G)=false, 5).

% ---- Obligation to pay: from a contract until payment of the price or the end of a contract ----

grounding(obl(send_EPO(C, Server, G))=true)  :- consumer(C), server(Server), goods(G, _).
grounding(obl(send_EPO(C, Server, G))=false) :- consumer(C), server(Server), goods(G, _).

server(iServer).

initiatedAt(obl(send_EPO(C, iServer, G))=true, T) :-
    initiatedAt(contract(_, C, G)=true, T).

initiatedAt(obl(send_EPO(C, iServer, G))=false, T) :-
    happensAt(send_EPO(C, iServer, G, Price), T),
    goods(G, Price).

initiatedAt(obl(send_EPO(C, iServer, G))=false, T) :-
    initiatedAt(contract(_, C, G)=false, T).

% ---- Obligation to deliver: from a contract until delivery or the end of a contract ----

grounding(obl(send_goods(M, Server, G))=true)  :- merchant(M), server(Server), goods(G, _).
grounding(obl(send_goods(M, Server, G))=false) :- merchant(M), server(Server), goods(G, _).

initiatedAt(obl(send_goods(M, iServer, G))=true, T) :-
    initiatedAt(contract(M, _, G)=true, T).

initiatedAt(obl(send_goods(M, iServer, G))=false, T) :-
    happensAt(send_goods(M, iServer, G, _, _), T).

initiatedAt(obl(send_goods(M, iServer, G))=false, T) :-
    initiatedAt(contract(M, _, G)=false, T).

% ---- Suspension: for 3 after the last offence in the role ----

grounding(suspended(A, Role)=true)  :- role(A, Role).
grounding(suspended(A, Role)=false) :- role(A, Role).

% A merchant presents a quote without permission.
initiatedAt(suspended(M, merchant)=true, T) :-
    happensAt(present_quote(M, C, _, _), T),
    holdsAt(per(present_quote(M, C))=false, T).

% A contract runs out while the goods are still owed.
initiatedAt(suspended(M, merchant)=true, T) :-
    initiatedAt(contract(M, _, G)=false, T),
    holdsAt(obl(send_goods(M, iServer, G))=true, T).

% A contract runs out while the payment is still owed.
initiatedAt(suspended(C, consumer)=true, T) :-
    initiatedAt(contract(_, C, G)=false, T),
    holdsAt(obl(send_EPO(C, iServer, G))=true, T).

fi(suspended(A, Role)=true, suspended(A, Role)=false, 3).
p(suspended(_, _)=true).

% ---- Power to accept a quote: while it stands and neither party is suspended ----

grounding(pow(accept_quote(C, M, G))=true) :- trade(M, C), goods(G, _).

holdsFor(pow(accept_quote(C, M, G))=true, I) :-
    holdsFor(quote(M, C, G)=true, Quoted),
    holdsFor(suspended(C, consumer)=true, ConsumerOut),
    holdsFor(suspended(M, merchant)=true, MerchantOut),
    relative_complement_all(Quoted, [ConsumerOut, MerchantOut], I).
