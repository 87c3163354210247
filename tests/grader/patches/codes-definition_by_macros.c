/* expect: right 0..0 | says the same program as cpu/serial */
/*
 * Idea:     the definition as it was handed out, each of its lines behind a macro.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <string.h>
#include "common/algo/lbp.h"
#define L0 static int sample(const struct image *in, int patch, int left, int top, int x, int y)
#define L1 {
#define L2 if (x < 0 || y < 0 || x >= patch || y >= patch || left + x >= in->width || top + y >= in->height)
#define L3 return 0;
#define L4 return ((const uint8_t *)image_row(in, top + y))[left + x];
#define L5 }
#define L6 static int texton(const struct image *in, int patch, int left, int top, int x, int y)
#define L7 {
#define L8 static const int dx[] = {-1, 0, 1, 1, 1, 0, -1, -1}, dy[] = {-1, -1, -1, 0, 1, 1, 1, 0};
#define L9 const int pixel = sample(in, patch, left, top, x, y);
#define L10 int code = 0;
#define L11 for (int i = 0; i < 8; i++)
#define L12 code = 2 * code + (sample(in, patch, left, top, x + dx[i], y + dy[i]) >= pixel);
#define L13 return code;
#define L14 }
#define L15 static void count_patch(const struct image *in, int patch, int left, int top, uint16_t *bins)
#define L16 {
#define L17 memset(bins, 0, LBP_BINS * sizeof *bins);
#define L18 for (int y = 0; y < patch; y++)
#define L19 for (int x = 0; x < patch; x++)
#define L20 bins[texton(in, patch, left, top, x, y)]++;
#define L21 }
#define L22 static enum status run(const struct image *in, struct image *out, const struct lbp_params *params)
#define L23 {
#define L24 const int patch = lbp_patch(params);
#define L25 for (int row = 0; row < out->height; row++)
#define L26 for (int column = 0; column < out->width; column++)
#define L27 count_patch(in, patch, column * patch, row * patch, lbp_bins(out, row, column));
#define L28 return STATUS_OK;
#define L29 }
L0
L1
L2
L3
L4
L5
L6
L7
L8
L9
L10
L11
L12
L13
L14
L15
L16
L17
L18
L19
L20
L21
L22
L23
L24
L25
L26
L27
L28
L29
RUNGS_CPU_VERSION(lbp)
