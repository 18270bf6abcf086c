time,event,who
2,win,ann
5,lose,ann
