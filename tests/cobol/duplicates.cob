*> Duplicates of an alternate key come in the order in which they got that value, forwards and backwards; a REWRITE that
*> leaves the value alone leaves the place, one that changes it goes to the end of the new value's duplicates.
identification division.
program-id. duplicates.
environment division.
input-output section.
file-control.
    select f assign to "dupfile" organization indexed access dynamic
        record key f-key alternate record key f-dup with duplicates
        alternate record key f-all with duplicates file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(2).
   05 f-dup pic x(2).
   05 f-all pic x(2).
   05 f-text pic x(2).
working-storage section.
01 fs pic xx.
01 what pic x(44).
01 line-text pic x(60).
01 at-position pic 99.
01 n pic 99.
procedure division.
main-line.
    open output f
    perform varying n from 1 by 1 until n > 8
        compute at-position = 90 - n * 10
        move at-position to f-key
        if n > 4 move "B" to f-dup else move "A" to f-dup end-if
        move "X" to f-all
        write f-record
    end-perform
    close f
    open i-o f
    move "as written, with falling primary keys" to what perform show
    move "60" to f-key read f move "r1" to f-text rewrite f-record
    move "60 rewritten, its keys left alone" to what perform show
    move "70" to f-key read f move "B" to f-dup rewrite f-record
    move "70 from A to B" to what perform show
    move "70" to f-key read f move "A" to f-dup rewrite f-record
    move "70 back from B to A" to what perform show
    move "30" to f-key delete f
    move "30 deleted" to what perform show
    move "30" to f-key move "B" to f-dup move "X" to f-all write f-record
    move "30 written again" to what perform show
    move "80" to f-key delete f move "10" to f-key delete f
    move "the first of A and the last of B deleted" to what perform show
    move "05" to f-key move "A" to f-dup write f-record
    move "05 added to A" to what perform show
    close f
    open i-o f
    move "closed and opened" to what perform show

    display "in the middle of a walk by f-dup, records are changed:"
    move "A" to f-dup start f key equal f-dup
    read f next                                  display "  read next                     " fs " " f-key
    move "B" to f-dup rewrite f-record           display "  rewrite it to B               " fs
    read f next                                  display "  read next: the next of A      " fs " " f-key
    delete f                                     display "  delete it                     " fs
    read f next                                  display "  read next                     " fs " " f-key
    move "99" to f-key move "A" to f-dup write f-record
                                                 display "  write 99 with A               " fs
    read f next                                  display "  read next: 99 is the last of A" fs " " f-key
    read f previous                              display "  read previous                 " fs " " f-key
    read f previous                              display "  read previous                 " fs " " f-key
    move "after all that" to what perform show
    close f
    stop run.

show.
    display what
    move spaces to line-text move 1 to at-position
    move low-values to f-dup
    start f key not less f-dup
    perform until fs not = "00"
        read f next
        if fs = "00" perform add-record end-if
    end-perform
    display "  by f-dup      " line-text
    move spaces to line-text move 1 to at-position
    move high-values to f-dup
    start f key not greater f-dup
    perform until fs not = "00"
        read f previous
        if fs = "00" perform add-record end-if
    end-perform
    display "  and backwards " line-text
    move spaces to line-text move 1 to at-position
    move "X" to f-all
    start f key equal f-all
    perform until fs not = "00"
        read f next
        if fs = "00" perform add-record end-if
    end-perform
    display "  by f-all      " line-text.

add-record.
    string f-dup(1:1) f-key " " delimited by size into line-text pointer at-position.
