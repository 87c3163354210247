/*
 * A roofline of the correlation matrix: from how many bands on do the multipliers of a device limit it, and no longer
 * its memory? Peak and bandwidth are the data sheet's, and true: every f32 unit finishes a multiply-add in each cycle,
 * which the sheet counts as two operations. A pixel of n bands is read once, 4 bytes a band; it takes a product and an
 * addition for each of the n (n + 1) / 2 pairs. The lines are drawn right. Is the last one?
 */
#include <stdio.h>

static const double peak = 67e12;       /* operations a second */
static const double bandwidth = 4.8e12; /* bytes a second */

/* Operations for each byte that is read. */
static double intensity(int bands)
{
    const double pairs = 0.5 * bands * (bands + 1), bytes = 4.0 * bands;

    return pairs / bytes;
}

int main(void)
{
    static const int sizes[] = {3, 6, 31, 81, 156, 198};
    int ridge = 1;

    printf("bands  operations/byte  TFLOP/s at most  limited by\n");
    for (int k = 0; k < 6; k++) {
        const double slope = intensity(sizes[k]) * bandwidth;
        printf("%5d  %15.2f  %15.1f  %s\n", sizes[k], intensity(sizes[k]), (slope < peak ? slope : peak) / 1e12,
               slope < peak ? "memory" : "multipliers");
    }
    while (intensity(ridge) * bandwidth < peak)
        ridge++;
    printf("the ridge is at %d bands\n", ridge);
    return 0;
}
