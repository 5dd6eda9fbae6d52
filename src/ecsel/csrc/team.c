/* A second thread for the sums over rows of one fit. The halves of a table take a fraction of a millisecond, so the
   helper waits for work by spinning, and sleeps only where none comes for long. */
#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { IDLE, WORK, LEAVE };
enum { SPINS = 1 << 14 };

struct Team {
    pthread_t helper;
    pthread_mutex_t lock;
    pthread_cond_t called;
    atomic_int task;
    Half *half;
    void *work;
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static int await_task(Team *t) {
    for (int i = 0; i < SPINS; i++) {
        const int task = atomic_load_explicit(&t->task, memory_order_acquire);
        if (task != IDLE) return task;
        pause_briefly();
    }
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->task) == IDLE) pthread_cond_wait(&t->called, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return atomic_load(&t->task);
}

static void *help(void *team) {
    Team *t = team;
    while (await_task(t) == WORK) {
        t->half(t->work, 1);
        atomic_store_explicit(&t->task, IDLE, memory_order_release);
    }
    return NULL;
}

static void call(Team *t, int task) {
    pthread_mutex_lock(&t->lock);
    atomic_store_explicit(&t->task, task, memory_order_release);
    pthread_cond_signal(&t->called);
    pthread_mutex_unlock(&t->lock);
}

Team *open_team(void) {
    Team *t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->called, NULL);
    if (pthread_create(&t->helper, NULL, help, t) == 0) return t;
    pthread_cond_destroy(&t->called);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return NULL;
}

void close_team(Team *t) {
    if (t == NULL) return;
    call(t, LEAVE);
    pthread_join(t->helper, NULL);
    pthread_cond_destroy(&t->called);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

void do_halves(Team *t, Half *half, void *work) {
    if (t == NULL) {
        half(work, 0);
        half(work, 1);
        return;
    }
    t->half = half;
    t->work = work;
    call(t, WORK);
    half(work, 0);
    for (int i = 0; atomic_load_explicit(&t->task, memory_order_acquire) != IDLE; i++) {
        if (i < SPINS) pause_briefly();
        else sched_yield();
    }
}
