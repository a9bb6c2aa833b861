*> Keys of several parts, and sparse keys: SUPPRESS WHEN leaves a record out of that key's order.
identification division.
program-id. split-keys.
environment division.
input-output section.
file-control.
    select f assign to "splitfile" organization indexed access dynamic
        record key is f-id source is f-year f-number
        alternate record key is f-where source is f-town f-street with duplicates
        alternate record key is f-phone with duplicates suppress when spaces
        alternate record key is f-badge suppress when all "0"
        file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-number pic x(3).
   05 f-street pic x(5).
   05 f-year pic x(4).
   05 f-phone pic x(6).
   05 f-town pic x(5).
   05 f-badge pic x(4).
working-storage section.
01 fs pic xx.
procedure division.
main-line.
    open output f                                 display "open output  " fs
    move "002Main 2001555001Bern 0007" to f-record write f-record display "write        " fs
    move "001Lake 2002      Bern 0000" to f-record write f-record display "write        " fs
    move "003Lake 2001      Aarau0000" to f-record write f-record display "write        " fs
    move "001Main 2001555001Chur 0009" to f-record write f-record display "write        " fs
    move "001Hill 1999555000Bern 0000" to f-record write f-record display "write        " fs
    move "004Hill 2003555002Bern 0009" to f-record write f-record display "badge again  " fs
    move "001Hill 2002555002Bern 0001" to f-record write f-record display "id again     " fs
    close f
    open i-o f                                    display "open i-o     " fs
    display "by year and number"
    move low-values to f-record start f key not less f-id perform show-rest
    display "by town and street"
    move low-values to f-record start f key not less f-where perform show-rest
    display "by phone: those that have one"
    move low-values to f-record start f key not less f-phone perform show-rest
    display "by badge: those that have one"
    move low-values to f-record start f key not less f-badge perform show-rest
    move spaces to f-record move "2001" to f-year move "003" to f-number
    read f                                        display "read 2001 003       " fs " " f-record
    move "Lake" to f-street move "Bern" to f-town
    read f key is f-where                         display "read Bern Lake      " fs " " f-record
    read f next                                   display "read next           " fs " " f-record
    move spaces to f-phone
    read f key is f-phone                         display "read without phone  " fs
    move "2001" to f-year move "003" to f-number read f
    move "555009" to f-phone
    rewrite f-record                              display "give it a phone     " fs
    move "2001" to f-year move "002" to f-number read f
    move spaces to f-phone move "0000" to f-badge
    rewrite f-record                              display "take one away       " fs
    display "by phone"
    move low-values to f-record start f key not less f-phone perform show-rest
    display "by badge"
    move low-values to f-record start f key not less f-badge perform show-rest
    close f
    stop run.

show-rest.
    perform until fs not = "00"
        read f next
        if fs = "00" display "  " f-record end-if
    end-perform.
