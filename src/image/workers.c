/* SPDX-License-Identifier: MIT */
/*
 * Writing layers, by as many processes as there are processors: compressing is nearly all of the work.
 * Each goes through the source by itself and writes its own share, of about the same size; which layer
 * is whose changes no byte of any. The processes end with us.
 */
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "image/build_priv.h"
#include "image/interrupt.h"
#include "os/fs.h"
#include "os/linux/kernel.h"
#include "os/proc.h"

enum { CHUNK = 65536, MAX_WORKERS = 8, PROGRESS_MS = 100 };
#define WORTH_A_PROCESS (8u << 20) /* bytes */

struct worker {
	const struct build *build;
	const unsigned char *owner; /* of each layer */
	unsigned self;
	uint64_t *done; /* of all, shared */
	struct layer_writer *layers;
	bool *begun;
	bool alone; /* it shows the progress itself */
};

/* What a process says at its end: the references of its layers, or why there are none. */
struct report {
	struct err err;
	size_t layer;
	struct layer_ref ref;
};

static void show(const struct build *build, uint64_t done)
{
	if (build->how->on_progress)
		build->how->on_progress(build->how->ctx, done, build->total);
}

static int copy_data(struct worker *worker, struct layer_writer *layer, source_read_fn *read,
		     void *from, struct err *err)
{
	char buffer[CHUNK];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = read(from, buffer, sizeof(buffer))) > 0) {
		r = layer_data(layer, buffer, (size_t)n, err);
		__atomic_add_fetch(worker->done, (uint64_t)n, __ATOMIC_RELAXED);
		if (worker->alone)
			show(worker->build, *worker->done);
	}
	return r == 0 && n < 0 ? err_errno(err, (int)-n, "reading a file") : r;
}

static int write_entry(void *ctx, struct archive_entry *entry, source_read_fn *read, void *from,
		       struct err *err)
{
	struct worker *worker = ctx;
	size_t i = build_layer_of(worker->build, entry);
	struct layer_writer *layer = &worker->layers[i];
	int r = 0;

	if (worker->owner[i] != worker->self)
		return 0;
	if (!worker->begun[i]) {
		r = layer_begin(layer, worker->build->store->blobs, worker->build->how->compression,
				err);
		worker->begun[i] = r == 0;
	}
	if (r == 0)
		r = layer_add(layer, entry, err);
	if (r == 0 && !archive_entry_hardlink(entry) && archive_entry_filetype(entry) == AE_IFREG)
		r = copy_data(worker, layer, read, from, err);
	return r < 0 ? err_wrap(err, "'%s'", archive_entry_pathname(entry)) : 0;
}

/* Writes the worker's share. */
static int write_share(struct worker *worker, struct layer_ref *refs, struct err *err)
{
	const struct build *build = worker->build;
	int r = 0;

	worker->layers = calloc(build->n, sizeof(*worker->layers));
	worker->begun = calloc(build->n, sizeof(*worker->begun));
	if (!worker->layers || !worker->begun)
		r = err_errno(err, ENOMEM, "building an image");
	if (r == 0)
		r = source_visit(build->source, write_entry, worker, err);
	for (size_t i = 0; worker->begun && worker->layers && i < build->n; i++) {
		if (!worker->begun[i])
			continue;
		if (r == 0)
			r = layer_end(&worker->layers[i], &refs[i], err);
		else
			layer_abort(&worker->layers[i]);
	}
	free(worker->layers);
	free(worker->begun);
	return r;
}

/* The largest first, each to whoever has least. */
static void share_out(const struct build *build, unsigned workers, unsigned char *owner)
{
	uint64_t load[MAX_WORKERS] = { 0 };

	memset(owner, 0xff, build->n);
	for (size_t left = build->n; left > 0; left--) {
		size_t big = SIZE_MAX;
		unsigned least = 0;

		for (size_t i = 0; i < build->n; i++)
			if (owner[i] == 0xff &&
			    (big == SIZE_MAX || build->sizes[i] > build->sizes[big]))
				big = i;
		for (unsigned w = 1; w < workers; w++)
			if (load[w] < load[least])
				least = w;
		owner[big] = (unsigned char)least;
		load[least] += build->sizes[big];
	}
}

/* --- processes --- */

_Noreturn static void worker_main(struct worker *worker, int pipe, pid_t parent)
{
	struct report report = { 0 };
	struct layer_ref *refs = calloc(worker->build->n, sizeof(*refs));
	int r = refs ? 0 : -ENOMEM;

	os_die_with_parent(SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (r == 0)
		r = write_share(worker, refs, &report.err);
	for (size_t i = 0; r == 0 && i < worker->build->n; i++) {
		if (!refs[i].entries)
			continue;
		report.layer = i;
		report.ref = refs[i];
		r = os_write_all(pipe, &report, sizeof(report));
	}
	/* Without a reader there is nobody to tell. */
	if (report.err.code)
		(void)os_write_all(pipe, &report, sizeof(report));
	_exit(r < 0);
}

/* Takes reports until all have ended. */
static int listen_to(const struct build *build, int pipe, const uint64_t *done,
		     struct layer_ref *refs, struct err *err)
{
	struct pollfd fd = { .fd = pipe, .events = POLLIN };
	struct report report;
	ssize_t n = 1;
	int r = 0;

	while (n > 0) {
		if (interrupt_waits())
			return interrupt_check(err);
		if (poll(&fd, 1, PROGRESS_MS) == 0) {
			show(build, __atomic_load_n(done, __ATOMIC_RELAXED));
			continue;
		}
		n = os_read_full(pipe, &report, sizeof(report));
		if (n != sizeof(report))
			break;
		if (report.err.code && r == 0) {
			*err = report.err;
			r = -err->code;
		} else if (!report.err.code && report.layer < build->n) {
			refs[report.layer] = report.ref;
		}
	}
	show(build, __atomic_load_n(done, __ATOMIC_RELAXED));
	return r;
}

/* Those that hold it back, as we do, clear up first. */
static int end_workers(const pid_t *pids, unsigned n, int r, struct err *err)
{
	for (unsigned i = 0; i < n; i++) {
		int status;

		if (r < 0)
			kill(pids[i], SIGTERM);
		status = os_await(pids[i]);
		if (r == 0 && status)
			r = err_set(err, EIO, "a process that wrote layers ended unexpectedly");
	}
	return r;
}

static int write_together(struct worker *worker, unsigned workers, struct layer_ref *refs,
			  struct err *err)
{
	pid_t pids[MAX_WORKERS], parent = getpid();
	unsigned n = 0;
	int ends[2], r = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(err, errno, "pipe");
	fflush(NULL);
	while (r == 0 && n < workers) {
		worker->self = n;
		pids[n] = fork();
		if (pids[n] == 0)
			worker_main(worker, ends[1], parent);
		if (pids[n] < 0)
			r = err_errno(err, errno, "fork");
		else
			n++;
	}
	close(ends[1]);
	if (r == 0)
		r = listen_to(worker->build, ends[0], worker->done, refs, err);
	close(ends[0]);
	return end_workers(pids, n, r, err);
}

static unsigned count_workers(const struct build *build)
{
	cpu_set_t cpus;
	unsigned n = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus)
								    : 1;

	return (unsigned)MIN(MIN(n, MAX_WORKERS), 1 + build->total / WORTH_A_PROCESS);
}

int workers_write(const struct build *build, struct layer_ref *refs, struct err *err)
{
	unsigned workers = build->n > 1 ? count_workers(build) : 1;
	unsigned char *owner = calloc(build->n, 1);
	uint64_t *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct worker worker = { .build = build, .owner = owner, .done = done };
	int r;

	if (!owner || done == MAP_FAILED) {
		r = err_errno(err, ENOMEM, "building an image");
	} else if (workers == 1) {
		worker.alone = true;
		r = write_share(&worker, refs, err);
	} else {
		share_out(build, workers, owner);
		r = write_together(&worker, workers, refs, err);
	}
	if (done != MAP_FAILED)
		munmap(done, sizeof(*done));
	free(owner);
	return r;
}
