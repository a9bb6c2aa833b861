*> A run unit of several programs: a CALLed module with a SELECT of its own for the same file, an EXTERNAL file that both
*> share, CANCEL with a file left open, and two SELECTs of one program for one file.
identification division.
program-id. modules.
environment division.
input-output section.
file-control.
    select f assign to "sharedfile" organization indexed access dynamic
        record key f-key alternate record key f-town with duplicates file status fs.
    select again assign to "sharedfile" organization indexed access dynamic
        record key again-key alternate record key again-town with duplicates file status fs.
    select e assign to "externalfile" organization indexed access dynamic
        record key e-key alternate record key e-town with duplicates file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
   05 f-town pic x(8).
fd again.
01 again-record.
   05 again-key pic x(4).
   05 again-town pic x(8).
fd e is external.
01 e-record.
   05 e-key pic x(4).
   05 e-town pic x(8).
working-storage section.
01 fs pic xx.
01 n pic 9.
procedure division.
    open output f                              display "main: open output f       " fs
    move "0010" to f-key move "Bern" to f-town
    write f-record                             display "main: write 0010          " fs
    open output e                              display "main: open output e       " fs
    move "E010" to e-key move "Chur" to e-town
    write e-record                             display "main: write E010          " fs
    close e open i-o e                         display "main: open i-o e          " fs
    close f open i-o f                         display "main: open i-o f          " fs
    call "modules_sub" using "write"
    move "0020" to f-key
    read f                                     display "main: read 0020           " fs " " f-record
    move "Aarau" to f-town
    rewrite f-record                           display "main: rewrite 0020        " fs
    call "modules_sub" using "read"
    move "E020" to e-key
    read e                                     display "main: read E020 of e      " fs " " e-record
    read e previous                            display "main: read previous of e  " fs " " e-record
    call "modules_sub" using "next"
    read e next                                display "main: read next of e      " fs " " e-record

    display "cancel with the file open, and call again, three times"
    perform varying n from 1 by 1 until n > 3
        cancel "modules_sub"
        call "modules_sub" using "write"
    end-perform
    call "modules_sub" using "close"
    cancel "modules_sub"

    display "two selects of one program"
    open i-o again                             display "open i-o again            " fs
    move "0030" to again-key move "Davos" to again-town
    write again-record                         display "write by one              " fs
    move "0030" to f-key
    read f                                     display "read by the other         " fs " " f-record
    delete f                                   display "delete by the other       " fs
    read again                                 display "read by the one           " fs
    close again                                display "close one                 " fs
    move "0010" to f-key
    read f                                     display "read by the other         " fs " " f-record
    close f                                    display "close the other           " fs
    close e
    stop run.
