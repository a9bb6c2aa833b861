/* What the stand-in for libcob lets a program see. */

#ifndef STANDIN_H
#define STANDIN_H

extern int standin_exception;
extern unsigned char *standin_file_in_error;
extern int standin_taken_as_open;
extern int standin_informed;
extern int standin_extfh_calls;

void cob_set_exception (int exception);
int EXTFH (unsigned char *code, unsigned char *fcd);

#endif
