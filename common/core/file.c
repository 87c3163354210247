#include "common/core/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_has_extension(const char *path, const char *extension)
{
    const size_t length = strlen(path), tail = strlen(extension);

    return length >= tail && strcasecmp(path + length - tail, extension) == 0;
}

enum status file_open(const char *path, FILE **stream, uint64_t *size)
{
    enum status status = STATUS_OK;
    struct stat about;
    /* O_NONBLOCK: opening a pipe that nobody writes to would wait for ever; it means nothing to a regular file. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *stream = NULL;
    if (!*path)
        status = status_set(STATUS_BAD_INPUT, "the name of the input file is empty");
    else if (descriptor < 0 || fstat(descriptor, &about) != 0)
        status = status_set(STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        status = status_set(STATUS_BAD_INPUT, "%s: %s", path, strerror(EISDIR));
    else if (!S_ISREG(about.st_mode))
        status = status_set(STATUS_BAD_INPUT, "%s: not a regular file", path);
    else if (about.st_size == 0)
        status = status_set(STATUS_BAD_INPUT, "%s: empty file", path);
    else if (!(*stream = fdopen(descriptor, "rb")))
        status = status_set(STATUS_NO_MEMORY, "%s: %s", path, strerror(errno));
    else
        *size = (uint64_t)about.st_size;
    if (status != STATUS_OK && descriptor >= 0)
        close(descriptor);
    return status;
}

/* The folder of a path, "." when it names none; NULL when there is no memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

bool file_is_same(const char *a, const char *b)
{
    struct stat about_a, about_b;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    char *folder_a, *folder_b;
    bool same;

    if (stat(a, &about_a) == 0)
        return stat(b, &about_b) == 0 && about_a.st_dev == about_b.st_dev && about_a.st_ino == about_b.st_ino;
    if (stat(b, &about_b) == 0 || strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) != 0)
        return false;
    folder_a = folder_of(a);
    folder_b = folder_of(b);
    same = folder_a && folder_b && stat(folder_a, &about_a) == 0 && stat(folder_b, &about_b) == 0 &&
           about_a.st_dev == about_b.st_dev && about_a.st_ino == about_b.st_ino;
    free(folder_a);
    free(folder_b);
    return same;
}

/* The checks of file_check_output(); fills target and mode, and the folder to be freed by the caller. */
static enum status inspect(struct output_file *file, char **folder)
{
    const char *path = file->path;
    struct stat about;

    *folder = NULL;
    if (!*path)
        return status_set(STATUS_BAD_INPUT, "the name of the output file is empty");
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return status_set(STATUS_BAD_INPUT, "%s: %s", path, strerror(EISDIR));
        if (!S_ISREG(about.st_mode))
            return status_set(STATUS_BAD_INPUT, "%s: not a regular file", path);
        /* The rename at the end would replace a write-protected file without asking. */
        if (access(path, W_OK) != 0 || !(file->target = realpath(path, NULL)))
            return status_set(STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
        file->mode = about.st_mode & 07777;
    } else if (errno != ENOENT) {
        return status_set(STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    } else if (lstat(path, &about) == 0) {
        return status_set(STATUS_BAD_INPUT, "%s: a symbolic link to a file that does not exist", path);
    } else if (path[strlen(path) - 1] == '/') {
        return status_set(STATUS_BAD_INPUT, "%s: names a folder, not a file", path);
    } else if (!(file->target = strdup(path))) {
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    }
    *folder = folder_of(file->target);
    if (!*folder)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    if (access(*folder, W_OK | X_OK) != 0)
        return status_set(STATUS_BAD_INPUT, "%s: cannot write in folder %s: %s", path, *folder, strerror(errno));
    return STATUS_OK;
}

enum status file_check_output(const char *path)
{
    struct output_file file = {.path = path};
    char *folder = NULL;
    const enum status status = inspect(&file, &folder);

    free(folder);
    file_discard(&file);
    return status;
}

/* ------------------------------------------------------------------------------------------- unfinished files */

/* Those of this process, for the signal handler; more than these are left to the next run. */
enum { MAX_UNFINISHED = 64 };
static char *volatile unfinished[MAX_UNFINISHED];
static volatile pid_t unfinished_owner;
static pthread_mutex_t unfinished_lock = PTHREAD_MUTEX_INITIALIZER;

/* Puts `to` in the place of the first `from`. */
static void replace_unfinished(const char *from, char *to)
{
    pthread_mutex_lock(&unfinished_lock);
    for (int i = 0; i < MAX_UNFINISHED; i++) {
        if (unfinished[i] == from) {
            unfinished[i] = to;
            break;
        }
    }
    pthread_mutex_unlock(&unfinished_lock);
}

static void end_by_signal(int number)
{
    /* A forked child has the list of its parent, but not its files. */
    for (int i = 0; i < MAX_UNFINISHED && getpid() == unfinished_owner; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
    raise(number); /* SA_RESETHAND: it ends the process now */
}

void file_discard_at_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

    unfinished_owner = getpid();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_handler = end_by_signal, .sa_flags = SA_RESETHAND | SA_NODEFER}, before;

        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, &before);
        if (before.sa_handler == SIG_IGN) /* nohup: to go on without a terminal is what it is for */
            sigaction(numbers[i], &before, NULL);
    }
}

/* The process in the name of an unfinished file, 0 when it is no such name. */
static long owner_in(const char *name)
{
    long owner;
    int number, end = 0;

    return sscanf(name, ".rungs-%9ld-%9d.tmp%n", &owner, &number, &end) == 2 && end > 0 && !name[end] ? owner : 0;
}

/* Removes what killed processes have left in the folder, once for each folder. Each file is locked by its owner:
 * another machine or container that writes into the same folder has processes that are not seen from here. */
static void remove_abandoned(const char *folder)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static dev_t last_device;
    static ino_t last_folder;
    struct stat about;
    DIR *directory = NULL;

    pthread_mutex_lock(&lock);
    if (stat(folder, &about) == 0 && (about.st_dev != last_device || about.st_ino != last_folder)) {
        last_device = about.st_dev;
        last_folder = about.st_ino;
        directory = opendir(folder);
    }
    pthread_mutex_unlock(&lock);
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        const long owner = owner_in(entry->d_name);
        int file;

        if (owner == 0 || kill((pid_t)owner, 0) == 0 || errno != ESRCH)
            continue;
        file = openat(dirfd(directory), entry->d_name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
        if (file >= 0)
            close(file);
    }
    closedir(directory);
}

/* --------------------------------------------------------------------------------------------- writing a file */

enum status file_create(struct output_file *file, const char *path)
{
    enum { ATTEMPTS = 1000 };
    enum status status = STATUS_OK;
    char *folder = NULL;
    int descriptor = -1;

    memset(file, 0, sizeof *file);
    file->path = path;
    TRY(inspect(file, &folder));
    remove_abandoned(folder);
    /* A short name of its own: the target's with a suffix could be longer than the file system allows. A name taken by
     * a killed process of the same number, or by another thread, only costs another attempt. */
    for (int i = 0; i < ATTEMPTS && descriptor < 0; i++) {
        free(file->temporary);
        if (asprintf(&file->temporary, "%s/.rungs-%ld-%d.tmp", folder, (long)getpid(), i) < 0) {
            file->temporary = NULL;
            status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
            goto out;
        }
        descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    if (descriptor < 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: cannot write in folder %s: %s", path, folder, strerror(errno));
        free(file->temporary); /* not ours: file_discard() must not remove it */
        file->temporary = NULL;
        goto out;
    }
    flock(descriptor, LOCK_EX | LOCK_NB); /* where locks are not known the process number has to do */
    replace_unfinished(NULL, file->temporary);
    file->stream = fdopen(descriptor, "wb");
    if (!file->stream) {
        status = status_set(STATUS_NO_MEMORY, "%s: %s", path, strerror(errno));
        close(descriptor);
    }
out:
    free(folder);
    if (status != STATUS_OK)
        file_discard(file);
    return status;
}

void file_write(struct output_file *file, const void *data, size_t size)
{
    if (file->error == 0 && size > 0 && fwrite(data, 1, size, file->stream) != size)
        file->error = errno ? errno : EIO;
}

/* Turns the first error of writing into a status and drops the file. */
static enum status fail(struct output_file *file)
{
    const enum status status = status_set(STATUS_BAD_INPUT, "%s: %s", file->path, strerror(file->error));

    file_discard(file);
    return status;
}

enum status file_complete(struct output_file *file)
{
    if (file->error == 0 && fflush(file->stream) != 0)
        file->error = errno;
    if (file->error == 0 && file->mode != 0 && fchmod(fileno(file->stream), file->mode) != 0)
        file->error = errno;
    if (fclose(file->stream) != 0 && file->error == 0)
        file->error = errno;
    file->stream = NULL;
    return file->error != 0 ? fail(file) : STATUS_OK;
}

enum status file_commit(struct output_file *file)
{
    enum status status = file->stream ? file_complete(file) : STATUS_OK;

    if (status == STATUS_OK && rename(file->temporary, file->target) != 0) {
        file->error = errno;
        status = fail(file);
    }
    if (status == STATUS_OK) {
        replace_unfinished(file->temporary, NULL);
        free(file->temporary);
        file->temporary = NULL;
        file_discard(file);
    }
    return status;
}

void file_discard(struct output_file *file)
{
    if (file->stream)
        fclose(file->stream);
    if (file->temporary) {
        unlink(file->temporary);
        replace_unfinished(file->temporary, NULL);
    }
    free(file->temporary);
    free(file->target);
    memset(file, 0, sizeof *file);
}
