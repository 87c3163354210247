/*
 * check_values.h: cases for a list, and what a case's settings are made of: values of parameters, as after -p.
 */
#ifndef RUNGS_CHECK_VALUES_H
#define RUNGS_CHECK_VALUES_H

#include "common/verify/check_cases.h"

/* Of a parameter with up to so many values every version tries all; of one with up to the second number each is tried
 * by some version. */
enum { ALL_VALUES = 64, SHARED_VALUES = 1024 };
/* A table of more rows takes longer than all else: such values are tried at their end alone, and drawn seldom. */
enum { MANY_VALUES = 4096 };

/* One call of run() on a small picture by the defaults; of a contract with shapes of its own on the first that is
 * neither small nor flat. */
struct check_case check_values_case(const struct algorithm *algorithm);
enum status case_add(struct case_list *list, struct check_case item);
/* One call, of either entry in turn: for case number `number`, or the one that comes next. */
enum check_calls case_one_call_of(size_t number);
enum check_calls case_one_call(const struct case_list *list);
/* Keeps a copy of settings until check_cases_free(); NULL when there is no memory, or the contract refuses them. */
const char *case_keep_settings(struct case_list *list, const struct algorithm *algorithm, const char *settings);

/* Whether one of the settings, as after -p, is this parameter's. */
bool check_settings_name(const char *settings, const char *parameter);
/* Values that a check can choose: names of other versions and of files are none. */
bool value_is_drawn(const struct parameter *p);
/* The first value and their number: those of a range, with the words before it; 0 for a REAL. */
int value_first(const struct parameter *p, int *count);
/* Appends " name=value" for value number `index`. */
void value_append(char *text, size_t size, const struct parameter *p, int index);
/* The same for one drawn by lot. Ranges of many orders of magnitude are drawn from by their logarithm, every fourth
 * time evenly, where they have no more than MANY_VALUES. */
void value_append_drawn(char *text, size_t size, const struct parameter *p, uint64_t *random);
/* The same for the least or the largest that is tried. */
void value_append_end(char *text, size_t size, const struct parameter *p, bool upper);
/* The same beside values of other parameters: of more than MANY_VALUES whole numbers a small one is the largest. */
void value_append_end_beside(char *text, size_t size, const struct parameter *p, bool upper);

#endif
