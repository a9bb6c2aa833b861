*> Shows what writer.cob has written, by each key: the file must tell the same by all of them.
identification division.
program-id. reader.
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
01 by-key pic 9(6) value 0.
01 by-town pic 9(6) value 0.
01 by-back pic 9(6) value 0.
01 last-town pic 99.
01 last-key pic 9(6).
procedure division.
main-line.
    open input f
    if fs not = "00" display "open " fs stop run end-if
    perform until fs not = "00"
        read f next
        if fs = "00"
            add 1 to by-key
            if f-text not = f-key or f-back + f-key not = 999999 display "wrong: " f-record end-if
            display f-key
        end-if
    end-perform
    if fs not = "10" display "read " fs end-if
    move 0 to f-town move 0 to last-town
    start f key not less f-town
    perform until fs not = "00"
        read f next
        if fs = "00"
            if f-town = last-town and f-key <= last-key and by-town > 0 display "wrong order: " f-record end-if
            if f-town < last-town display "wrong town: " f-record end-if
            add 1 to by-town
            move f-town to last-town
            move f-key to last-key
        end-if
    end-perform
    move high-values to f-record
    start f key not greater f-back
    perform until fs not = "00"
        read f previous
        if fs = "00" add 1 to by-back end-if
    end-perform
    close f
    if by-town not = by-key or by-back not = by-key
        display "by key " by-key ", by town " by-town ", by back " by-back
    end-if
    stop run.
