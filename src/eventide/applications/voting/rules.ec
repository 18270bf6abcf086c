% A voting protocol: motions, votes, outcomes, permissions and obligations of the chairs, sanctions.
%
% Background relation:
%   motion(Motion, Queried)      Queried is yes for the motions to follow, no for the others

% ---- Input ----

dynamicDomain(agent(_)).

grounding(propose(Agent, _Motion))           :- agent(Agent).
grounding(second(Agent, _Motion))            :- agent(Agent).
grounding(vote(Agent, _Motion, _Vote))       :- agent(Agent).
grounding(close_ballot(Agent, _Motion))      :- agent(Agent).
grounding(declare(Agent, _Motion, _Outcome)) :- agent(Agent).

% ---- Roles: an agent may be chair, voter, both or neither ----

isChair(Agent) :- Agent mod 10 =:= 0.
isVoter(Agent) :- Agent mod 11 > 0.

chair(Agent) :- agent(Agent), isChair(Agent).
voter(Agent) :- agent(Agent), isVoter(Agent).

followed(Motion) :- motion(Motion, yes).

% ---- Status of a motion: null, proposed, voting, voted, and null again, each step within 10 ----

grounding(status(M)=null)     :- followed(M).
grounding(status(M)=proposed) :- followed(M).
grounding(status(M)=voting)   :- followed(M).
grounding(status(M)=voted)    :- followed(M).

initially(status(_)=null).

initiatedAt(status(M)=proposed, T) :-
    happensAt(propose(_, M), T),
    holdsAt(status(M)=null, T).

initiatedAt(status(M)=voting, T) :-
    happensAt(second(_, M), T),
    holdsAt(status(M)=proposed, T).

initiatedAt(status(M)=voted, T) :-
    happensAt(close_ballot(C, M), T),
    isChair(C),
    holdsAt(status(M)=voting, T).

initiatedAt(status(M)=null, T) :-
    happensAt(declare(C, M, _), T),
    isChair(C),
    holdsAt(status(M)=voted, T).

fi(status(M)=proposed, status(M)=null, 10).
fi(status(M)=voting, status(M)=voted, 10).
fi(status(M)=voted, status(M)=null, 10).

% ---- Votes: the last vote of an agent counts, until the motion is over ----

grounding(voted(V, M)=aye) :- voter(V), followed(M).
grounding(voted(V, M)=nay) :- voter(V), followed(M).

initiatedAt(voted(V, M)=Vote, T) :-
    happensAt(vote(V, M, Vote), T),
    holdsAt(status(M)=voting, T).

terminatedAt(voted(_, M)=_, T) :-
    happensAt(start(status(M)=null), T).

% ---- Outcome: what a chair declares after the ballot, until the motion is proposed again ----

grounding(outcome(M)=carried)     :- followed(M).
grounding(outcome(M)=not_carried) :- followed(M).

initiatedAt(outcome(M)=Outcome, T) :-
    happensAt(declare(C, M, Outcome), T),
    isChair(C),
    holdsAt(status(M)=voted, T).

terminatedAt(outcome(M)=_, T) :-
    happensAt(start(status(M)=proposed), T).

% ---- Permission to close the ballot: once voting has lasted for 8 ----

grounding(auxPerCloseBallot(M)=true)  :- followed(M).
grounding(auxPerCloseBallot(M)=false) :- followed(M).

initiatedAt(auxPerCloseBallot(M)=true, T) :-
    happensAt(start(status(M)=voting), T).

initiatedAt(auxPerCloseBallot(M)=false, T) :-
    happensAt(start(status(M)=proposed), T).

fi(auxPerCloseBallot(M)=true, auxPerCloseBallot(M)=false, 8).

% The grounding supplies the chairs.
grounding(per(close_ballot(C, M))=true)  :- chair(C), followed(M).
grounding(per(close_ballot(C, M))=false) :- chair(C), followed(M).

initiatedAt(per(close_ballot(_, M))=true, T) :-
    happensAt(end(auxPerCloseBallot(M)=true), T),
    holdsAt(status(M)=voting, T).

initiatedAt(per(close_ballot(_, M))=false, T) :-
    happensAt(start(status(M)=voted), T).

% ---- Obligation to declare a motion carried: at least as many ayes as nays when the ballot closes ----

grounding(auxMotionOutcomeEvent(M, Outcome)) :- followed(M), decision(Outcome).

decision(carried).

happensAt(auxMotionOutcomeEvent(M, carried), T) :-
    happensAt(start(status(M)=voted), T),
    findall(For, holdsAt(voted(For, M)=aye, T), Ayes),
    length(Ayes, AyeCount),
    findall(Against, holdsAt(voted(Against, M)=nay, T), Nays),
    length(Nays, NayCount),
    AyeCount >= NayCount.

grounding(obl(declare(C, M, Outcome))=true)  :- chair(C), followed(M), decision(Outcome).
grounding(obl(declare(C, M, Outcome))=false) :- chair(C), followed(M), decision(Outcome).

initiatedAt(obl(declare(_, M, carried))=true, T) :-
    happensAt(auxMotionOutcomeEvent(M, carried), T).

initiatedAt(obl(declare(_, M, carried))=false, T) :-
    happensAt(start(status(M)=null), T).

% ---- Sanctions: for 4, after closing a ballot without permission or not declaring the right outcome ----

grounding(sanctioned(C)=true)  :- chair(C).
grounding(sanctioned(C)=false) :- chair(C).

% Nobody has permission to close the ballot of a motion that is not followed.
initiatedAt(sanctioned(C)=true, T) :-
    happensAt(close_ballot(C, M), T),
    \+ holdsAt(per(close_ballot(C, M))=true, T).

% All chairs are liable when a motion leaves the state voted, not only the one that acted.
initiatedAt(sanctioned(C)=true, T) :-
    happensAt(end(status(M)=voted), T),
    holdsAt(obl(declare(C, M, carried))=true, T),
    \+ happensAt(declare(C, M, carried), T).

initiatedAt(sanctioned(C)=true, T) :-
    happensAt(end(status(M)=voted), T),
    \+ holdsAt(obl(declare(C, M, carried))=true, T),
    \+ happensAt(declare(C, M, not_carried), T).

fi(sanctioned(C)=true, sanctioned(C)=false, 4).
