*> Several files open at a time, with dynamic names, a record area for two of them, and a file opened under one SELECT
*> after another name.
identification division.
program-id. several-files.
environment division.
input-output section.
file-control.
    select f assign to f-name organization indexed access dynamic
        record key f-key file status fs.
    select a assign to "areaone" organization indexed access dynamic
        record key a-key file status fs.
    select b assign to "areatwo" organization indexed access dynamic
        record key b-key file status fs.
i-o-control.
    same record area for a b.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
   05 f-text pic x(8).
fd a.
01 a-record.
   05 a-key pic x(4).
   05 a-text pic x(8).
fd b.
01 b-record.
   05 b-key pic x(4).
   05 b-text pic x(12).
working-storage section.
01 fs pic xx.
01 f-name pic x(20).
01 n pic 9.
procedure division.
    perform varying n from 1 by 1 until n > 3
        string "name" n delimited by size into f-name
        open output f                          display "open output " f-name fs
        string "key" n delimited by size into f-key
        move f-name to f-text
        write f-record                         display "write                           " fs
        close f
    end-perform
    perform varying n from 3 by -1 until n < 1
        string "name" n delimited by size into f-name
        open i-o f
        read f next                            display "read        " f-name fs " " f-record
        close f
    end-perform
    display "same record area"
    open output a open output b
    move "0010" to a-key move "of a" to a-text
    write a-record                             display "write a                         " fs
    write b-record                             display "write b, the same record        " fs
    move "0020" to b-key move "of b" to b-text
    write b-record                             display "write b                         " fs
    close a open input a close b open input b
    read b next                                display "read b                          " fs " " b-record
    read b next                                display "read b                          " fs " " b-record
    read a next                                display "read a                          " fs " " a-record
    move "0020" to b-key
    read a                                     display "read a, key of b                " fs
    close a close b
    stop run.
