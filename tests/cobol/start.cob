*> START on each relation, with whole and partial keys, on values that are there, between, before and after.
*> A table row: relation, value, status of START, then what READ NEXT and (after a new START) READ PREVIOUS give.
identification division.
program-id. start-relations.
environment division.
input-output section.
file-control.
    select f assign to "startfile" organization indexed access dynamic
        record key f-key alternate record key f-alt with duplicates file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key.
      10 f-key-2 pic xx.
      10 f-key-rest pic xx.
   05 f-alt.
      10 f-alt-1 pic x.
      10 f-alt-rest pic x.
working-storage section.
01 fs pic xx.
01 started pic xx.
01 relation pic 9.
01 relation-names.
   05 filler pic x(12) value "equal".
   05 filler pic x(12) value "greater".
   05 filler pic x(12) value "not less".
   05 filler pic x(12) value "less".
   05 filler pic x(12) value "not greater".
01 filler redefines relation-names.
   05 relation-name pic x(12) occurs 5.
01 the-values.
   05 filler pic x(4) value "AA00".
   05 filler pic x(4) value "BB10".
   05 filler pic x(4) value "BB15".
   05 filler pic x(4) value "BB30".
   05 filler pic x(4) value "ZZ99".
01 filler redefines the-values.
   05 a-value pic x(4) occurs 5.
01 v pic 9.
01 kind pic 9.
01 next-record pic x(8).
01 previous-record pic x(8).
procedure division.
main-line.
    open output f
    move "BB10" to f-key move "K1" to f-alt write f-record
    move "BB20" to f-key move "M1" to f-alt write f-record
    move "BB30" to f-key move "K1" to f-alt write f-record
    move "CC10" to f-key move "K2" to f-alt write f-record
    move "DD10" to f-key move "M1" to f-alt write f-record
    close f
    open i-o f
    display "primary key"
    move 1 to kind
    perform table-of-starts
    display "its first two characters"
    move 2 to kind
    perform table-of-starts
    move "A0" to the-values(1:2) move "K1" to the-values(5:2) move "K9" to the-values(9:2)
    move "M1" to the-values(13:2) move "Z9" to the-values(17:2)
    display "alternate key with duplicates"
    move 3 to kind
    perform table-of-starts
    display "its first character"
    move 4 to kind
    perform table-of-starts
    close f
    stop run.

table-of-starts.
    perform varying relation from 1 by 1 until relation > 5
        perform varying v from 1 by 1 until v > 5
            perform do-start
            move fs to started
            move spaces to next-record previous-record
            if fs = "00"
                read f next
                if fs = "00" move f-record to next-record else move fs to next-record end-if
                perform do-start
                read f previous
                if fs = "00" move f-record to previous-record else move fs to previous-record end-if
            else
                read f next
                move fs to next-record
            end-if
            display relation-name(relation) " " a-value(v) "  " started "  " next-record "  " previous-record
        end-perform
    end-perform.

do-start.
    move a-value(v) to f-key
    move a-value(v) to f-alt
    evaluate kind also relation
        when 1 also 1 start f key equal f-key
        when 1 also 2 start f key greater f-key
        when 1 also 3 start f key not less f-key
        when 1 also 4 start f key less f-key
        when 1 also 5 start f key not greater f-key
        when 2 also 1 start f key equal f-key-2
        when 2 also 2 start f key greater f-key-2
        when 2 also 3 start f key not less f-key-2
        when 2 also 4 start f key less f-key-2
        when 2 also 5 start f key not greater f-key-2
        when 3 also 1 start f key equal f-alt
        when 3 also 2 start f key greater f-alt
        when 3 also 3 start f key not less f-alt
        when 3 also 4 start f key less f-alt
        when 3 also 5 start f key not greater f-alt
        when 4 also 1 start f key equal f-alt-1
        when 4 also 2 start f key greater f-alt-1
        when 4 also 3 start f key not less f-alt-1
        when 4 also 4 start f key less f-alt-1
        when 4 also 5 start f key not greater f-alt-1
    end-evaluate.
