/*
 * lines.h: straight lines in each frame of a video: gray, edges, then hough or pclines. The contract of every version
 * in cpu/lines and cuda/lines, which are pipelines (common/contract/pipeline.h).
 *
 * Input    a first frame and a frame, u8, 3 channels (RGB), of the same size, from 1x1; or a video, frame by frame.
 *          Frames have nothing to do with each other, and the first one is not looked at: a picture takes the place of
 *          both.
 * Output   a table of f32 for each frame, 3 wide and maximum + 1 high, as that of hough.h: row 0 is the count, then
 *          rho, theta and votes of each line, most votes first.
 *
 * Formula  Every step is the contract of another algorithm:
 *
 *              mask = edges(grayscale(frame); high, low, thin)
 *              out  = hough(mask; theta_steps, threshold, window, maximum)                  for detector=hough
 *              out  = the columns rho, theta, votes of
 *                     pclines(mask; d, threshold, window or 9, maximum)                     for detector=pclines
 *
 * Parameters   detector   hough | pclines, default hough            theta_steps  of hough, default 180
 *              high, low  of edges, default 400 and 200             d            of pclines, default 512
 *              thin       none | canny, default canny               threshold    1..2^24 votes, default 100
 *                                                                   window       cross, or odd 3..31; pclines: odd
 *                                                                   maximum      1..2^20 lines, default 1024
 *
 * Errors   not u8, not 3 channels, two sizes, what a step refuses: STATUS_BAD_INPUT.
 *
 * Source   Jošth, Exploitation of GPU in Graphics and Image Processing Algorithms, PhD thesis, Brno 2014, chapter 4:
 *          lines in real time, from the picture to the list.
 */
#ifndef RUNGS_LINES_H
#define RUNGS_LINES_H

#include "common/contract/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

enum lines_step_of { LINES_GRAYSCALE, LINES_EDGES, LINES_DETECTOR, LINES_STEPS };
enum lines_detector { LINES_HOUGH, LINES_PCLINES };
enum { LINES_COLUMNS = 3 };

struct lines_params {
    int detector;
    int high, low, thin;                            /* as in edges.h */
    int theta_steps, d, threshold, window, maximum; /* as in hough.h and pclines.h */
};

/* Opens all steps (zeroed before), the detector in the version that belongs to it; none stays open on failure. */
struct lines_ids {
    const char *grayscale, *edges, *hough, *pclines;
};
enum status lines_steps_open(struct step steps[LINES_STEPS], const struct lines_params *params,
                             const struct lines_ids *ids);
void lines_steps_close(struct step steps[LINES_STEPS]);

/* The shapes of what the steps make of such a frame: gray picture, mask, and the detector's table. */
struct lines_shapes {
    struct image gray, mask, table;
};
enum status lines_make_shapes(const struct step steps[LINES_STEPS], const struct image *frame,
                              struct lines_shapes *shapes);

/* The detector's table on the host, which may have columns more, to the pipeline's. */
void lines_write(const struct image *table, struct image *result);

#ifdef __cplusplus
}
#endif
#endif
