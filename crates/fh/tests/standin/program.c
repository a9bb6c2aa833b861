/* A program as cobc and libcob 3.2 would run it: statements on one indexed file, with what libcob does around each.
   Prints for each statement its status, and what libcob's faults would have made of it. */

#include "standin.h"

#include <stdio.h>
#include <string.h>

extern int immuxfh (unsigned char *code, unsigned char *fcd);

static unsigned char fcd[216];
static unsigned char record[12];
static unsigned char keys[] = {
  0, 40, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
  0, 1, 0, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 4
};
static const char *name = "standinfile";

static void
pointer (int offset, const void *to)
{
  memcpy (fcd + offset, &to, sizeof to);
}

static void
statement (const char *what, unsigned char code)
{
  unsigned char operation[2] = { 0xfa, code };
  int closing = code == 0x80;

  standin_file_in_error = NULL;
  standin_informed = 0;
  standin_extfh_calls = 0;
  immuxfh (operation, fcd);
  if (code <= 3 && fcd[0] == '0')
    standin_taken_as_open = 1;
  /* libcob sets the exception of a status that is none of success, and leaves an old one alone otherwise. */
  if (fcd[0] != '0')
    standin_exception = 0x0500 + fcd[0] - '0';
  printf ("%-28s %c%c mode %3d length %2d", what, fcd[0], fcd[1], fcd[7], fcd[91]);
  if (fcd[0] == '0' && standin_exception != 0)
    printf (", and enters the error handler");
  if (fcd[0] != '0' && standin_file_in_error == NULL)
    printf (", and crashes: no file in error");
  if (closing && fcd[0] == '0')
    printf (standin_taken_as_open ? ", and is taken as open" : ", and is taken as closed");
  if (closing && fcd[0] == '0' && !standin_informed)
    printf (", with the old name");
  printf (standin_extfh_calls ? ", %d calls of EXTFH\n" : "\n", standin_extfh_calls);
}

int
main (void)
{
  memset (fcd, 0, sizeof fcd);
  memcpy (fcd, "00", 2);
  fcd[3] = 216;
  fcd[4] = 1;
  fcd[5] = 2;
  fcd[6] = 8;
  fcd[7] = 128;
  fcd[55] = (unsigned char) strlen (name);
  fcd[67] = 4;
  fcd[91] = fcd[95] = fcd[99] = sizeof record;
  pointer (160, record);
  pointer (168, name);
  pointer (184, keys);

  statement ("open input, missing", 0x00);
  statement ("open output", 0x01);
  memcpy (record, "0010first   ", 12);
  statement ("write", 0xf3);
  statement ("write again", 0xf3);
  memcpy (record, "0020second  ", 12);
  statement ("write another", 0xf3);
  statement ("read next, open output", 0xf5);
  statement ("close", 0x80);
  statement ("close again", 0x80);
  statement ("open i-o", 0x02);
  statement ("read next", 0xf5);
  statement ("read next", 0xf5);
  statement ("read next, the end", 0xf5);
  statement ("read previous", 0xf9);
  statement ("read", 0xf6);
  memcpy (record, "0099", 4);
  statement ("read, missing", 0xf6);
  statement ("start first", 0xed);
  statement ("open, it is open", 0x02);
  statement ("close", 0x80);
  return 0;
}
