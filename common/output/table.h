/*
 * table.h: a bench as a table for people, within 100 columns.
 */
#ifndef RUNGS_TABLE_H
#define RUNGS_TABLE_H

#include <stdio.h>

#include "common/measure/bench.h"

/* Prints headline, table, comparison with peers, what failed or was skipped and why, limit and ceilings. Uses "µ", "×"
 * and "±" when the locale's character set is UTF-8 (call setlocale() first), else ASCII. */
void table_print(const struct bench *bench, FILE *stream);

/* One row of it, before the others are measured; above the `first` the columns' names. */
void table_print_row(const struct bench *bench, const struct bench_row *row, bool first, FILE *stream);

enum { TABLE_CELL = 32 };

/* "1.23 s", "45.6 ms", "789 µs": three significant digits. */
void table_time(double seconds, char text[TABLE_CELL]);
/* "12.4 MB", "12.4 kB", "12 B". */
void table_bytes(double bytes, char text[TABLE_CELL]);
/* Three significant digits without an exponent: "0.0123", "1.23", "12.3", "1230". */
void table_number(double number, char text[TABLE_CELL]);
/* "exact", "within 1", "reference", "exact, emulated", "FAIL", "skipped". */
void table_verified(const struct bench_row *row, char text[TABLE_CELL]);

/* Prints "label     text", broken at blanks within 100 columns and continued below the text's first column. */
void table_wrapped(FILE *stream, const char *label, const char *text);
/* Prints what tuned.json did to a version's tunables (tuned.h); nothing when it has no entry for it. */
void table_tuned(FILE *stream, const struct version *version);
/* Columns that a text takes on a terminal: UTF-8 characters. */
int table_columns(const char *text);

/* The character set's sign for a multiple ("×" or "x") and for plus or minus. */
const char *table_times_sign(void);
const char *table_spread_sign(void);

#endif
