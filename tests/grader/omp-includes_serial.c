/* expect: right 0..0 | speed 0..0 | says includes cpu/grayscale/0_serial.c | list includes cpu/grayscale/0_serial.c */
/*
 * Idea:     is cpu/serial under another name.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "cpu/grayscale/0_serial.c"
