/* Two threads that share the rows of one fit: see team.c. */
#ifndef ECSEL_TEAM_H
#define ECSEL_TEAM_H

typedef struct Team Team;
typedef void Half(void *work, int which);

/* A helper thread; NULL where there is none to be had, and then one thread does both halves. */
Team *open_team(void);
void close_team(Team *team);
/* half(work, 0) and half(work, 1), both done on return. */
void do_halves(Team *team, Half *half, void *work);

#endif
