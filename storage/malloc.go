package storage

/*
#include <malloc.h>

// Before main and its threads, since an arena that is there stays.
__attribute__((constructor)) static void one_arena(void) {
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}
*/
import "C"

// The C library would keep memory in an arena for each thread. Go runs SQLite on any of its threads, so each arena
// would come to hold pages of every connection's cache.
