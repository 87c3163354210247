#include "cpu/labelling/shared/tables.h"

uint8_t tables_places[256][8], tables_runs[512][8];

__attribute__((constructor)) static void fill(void)
{
    for (int byte = 0; byte < 256; byte++)
        for (int bit = 0, count = 0; bit < 8; bit++)
            if (byte >> bit & 1)
                tables_places[byte][count++] = (uint8_t)bit;
    for (int pixels = 0; pixels < 512; pixels++)
        for (int lane = 0, runs = 0; lane < 8; lane++) {
            const int before = pixels >> lane & 1, own = pixels >> (lane + 1) & 1;
            runs += own && !before;
            tables_runs[pixels][lane] = (uint8_t)(own ? runs : 7);
        }
}
