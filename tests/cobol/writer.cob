*> Writes records, and tells each that was acknowledged on standard error. Arguments: how many, the first number.
identification division.
program-id. writer.
environment division.
input-output section.
file-control.
    select f assign to "writtenfile" organization indexed access dynamic
        record key f-key alternate record key f-town with duplicates alternate record key f-back
        file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic 9(6).
   05 f-town pic 9(2).
   05 f-back pic 9(6).
   05 f-text pic x(100).
working-storage section.
01 fs pic xx.
01 how-many pic 9(6).
01 first-one pic 9(6).
01 n pic 9(6).
01 q pic 9(6).
procedure division.
    accept how-many from argument-value
    accept first-one from argument-value
    open i-o f
    if fs = "35" open output f close f open i-o f end-if
    if fs not = "00" display "open " fs upon syserr stop run end-if
    perform varying n from first-one by 1 until n >= first-one + how-many
        move n to f-key
        divide n by 7 giving q remainder f-town
        compute f-back = 999999 - n
        move f-key to f-text
        write f-record
        if fs not = "00" and fs not = "02" display "write " fs upon syserr stop run end-if
        display f-key upon syserr
    end-perform
    stop run.
