*> Records of 65,535 bytes, the most that a file may have, with a key that is the record's last bytes.
identification division.
program-id. large.
environment division.
input-output section.
file-control.
    select f assign to "largefile" organization indexed access dynamic
        record key f-key
        alternate record key f-last with duplicates
        file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic 9(5).
   05 f-text pic x(65524).
   05 f-last pic x(6).
working-storage section.
01 fs pic xx.
01 n pic 9(5).
01 count-1 pic 9(5) value 0.
01 wrong pic 9(5) value 0.
01 letter pic x.
01 letters pic x(26) value "ABCDEFGHIJKLMNOPQRSTUVWXYZ".
01 expected pic x(65524).
procedure division.
    open output f
    display "open output " fs
    perform varying n from 1 by 1 until n > 60
        move n to f-key
        perform fill-in
        move expected to f-text
        if n > 50 move "beyond" to f-last else move "within" to f-last end-if
        write f-record
        if fs not = "00" and not = "02" display "write " n " " fs end-if
    end-perform
    close f
    open i-o f
    display "open i-o    " fs
    move "beyond" to f-last
    start f key equal f-last
    display "start       " fs
    read f next
    display "read next   " fs " " f-key " " f-last
    perform check
    move 60 to f-key
    read f
    display "read        " fs " " f-key " " f-last
    perform check
    move "within" to f-last
    rewrite f-record
    display "rewrite     " fs
    move low-values to f-record
    move "within" to f-last
    start f key not greater f-last
    display "start       " fs
    read f previous
    display "read prev.  " fs " " f-key " " f-last
    perform check
    move 0 to f-key
    start f key greater f-key
    perform until fs not = "00"
        read f next
        if fs = "00" add 1 to count-1 perform check end-if
    end-perform
    display "records     " count-1 ", other than written " wrong
    close f
    stop run.
check.
    move f-key to n
    perform fill-in
    if f-text not = expected add 1 to wrong end-if.
fill-in.
    move letters(function mod(n, 26) + 1:1) to letter
    move all spaces to expected
    inspect expected replacing all space by letter
    move n to expected(65520:5).
