/* A stand-in for the part of libcob 3.2 that a handler meets, with its faults, as docs in crates/fh/src/libcob/faults.rs
   tell them: for tests of the workarounds where that version is not at hand.

   - The exception of a status other than 0x stays until somebody clears it.
   - The file in error is set by EXTFH only, when EXTFH itself fails.
   - A file is taken as open until EXTFH has closed it; EXTFH must not be asked to close an indexed file, of which it
     knows nothing, nor a sequential one, whose descriptor it takes to be 0. */

#include "standin.h"

#include <stdlib.h>
#include <string.h>

int standin_exception = 0;
unsigned char *standin_file_in_error = NULL;
int standin_taken_as_open = 0;
int standin_informed = 0;
int standin_extfh_calls = 0;

const char *
libcob_version (void)
{
  return STANDIN_VERSION;
}

void
cob_set_exception (int exception)
{
  standin_exception = exception;
}

static void
fail (unsigned char *fcd, const char *status)
{
  memcpy (fcd, status, 2);
  standin_file_in_error = fcd;
  /* What a handler must put back. */
  fcd[7] = 0;
  memset (fcd + 88, 0xee, 4);
}

int
EXTFH (unsigned char *code, unsigned char *fcd)
{
  int operation = code[0] << 8 | code[1];

  standin_extfh_calls++;
  switch (operation)
    {
    case 0xfa00:
      if (!standin_taken_as_open)
        abort ();
      fail (fcd, "41");
      break;
    case 0xfa80:
      if (!standin_taken_as_open)
        {
          fail (fcd, "42");
          break;
        }
      if (fcd[5] != 0)
        abort ();
      standin_taken_as_open = 0;
      memcpy (fcd, "00", 2);
      fcd[7] = 128;
      break;
    case 0x0006:
      if (fcd[5] != 2)
        abort ();
      standin_informed = 1;
      memcpy (fcd, "00", 2);
      break;
    default:
      abort ();
    }
  return 0;
}
