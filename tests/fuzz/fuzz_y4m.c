/*
 * Raw y4m, all frames.
 */
#include <string.h>

#include "common/video/video.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char mark[] = "YUV4MPEG2 ";
    struct video_reader *reader = NULL;
    struct video_frame *frame = NULL;

    /* Everything else would go to ffmpeg. */
    if (size < sizeof mark || memcmp(bytes, mark, sizeof mark - 1) != 0)
        return 0;
    if (video_open(&reader, fuzz_file("a.y4m", bytes, size), NULL) != STATUS_OK)
        return 0;
    while (video_next(reader, &frame) == STATUS_OK && frame)
        video_give_back(reader, frame);
    video_close(reader);
    return 0;
}
