*> Records of lengths of their own: DEPENDING ON, several record descriptions, lengths out of bounds.
identification division.
program-id. variable-records.
environment division.
input-output section.
file-control.
    select v assign to "varfile" organization indexed access dynamic
        record key v-key alternate record key v-alt with duplicates file status fs.
    select m assign to "multifile" organization indexed access dynamic
        record key m-key file status fs.
data division.
file section.
fd v record is varying in size from 6 to 30 characters depending on v-length.
01 v-record.
   05 v-key pic x(4).
   05 v-alt pic x(2).
   05 v-text pic x(24).
fd m.
01 m-short.
   05 m-key pic x(4).
   05 m-text pic x(4).
01 m-long.
   05 filler pic x(4).
   05 m-more pic x(16).
working-storage section.
01 fs pic xx.
01 v-length pic 9(4).
01 n pic 99.
procedure division.
main-line.
    open output v                              display "open output           " fs
    perform varying n from 6 by 6 until n > 30
        move n to v-key(1:2) move "00" to v-key(3:2)
        move "AA" to v-alt move all "x" to v-text
        move n to v-length
        write v-record                         display "write of " v-length "         " fs
    end-perform
    move "9900" to v-key move 5 to v-length
    write v-record                             display "write of 5, too short " fs
    move 31 to v-length
    write v-record                             display "write of 31, too long " fs
    close v
    open i-o v
    move all "*" to v-record move 0 to v-length
    perform until fs not = "00"
        read v next
        if fs = "00"
            display "  read, length " v-length " " v-record(1:v-length) "|"
        end-if
    end-perform
    move "1800" to v-key read v                display "read 1800             " fs " " v-length
    move 8 to v-length move "yy" to v-text(1:2)
    rewrite v-record                           display "rewrite of 8          " fs
    move "1800" to v-key move 0 to v-length
    read v                                     display "read 1800             " fs " " v-length " " v-record(1:v-length) "|"
    move 30 to v-length move all "z" to v-text
    rewrite v-record                           display "rewrite of 30         " fs
    move 31 to v-length
    rewrite v-record                           display "rewrite of 31         " fs
    move 5 to v-length
    rewrite v-record                           display "rewrite of 5          " fs
    move 0 to v-length
    read v previous                            display "read previous         " fs " " v-length " " v-record(1:v-length) "|"
    move "AA" to v-alt
    start v key equal v-alt                    display "start by alternate    " fs
    perform until fs not = "00"
        read v next
        if fs = "00" display "  read, length " v-length " " v-record(1:v-length) "|" end-if
    end-perform
    close v

    display "two record descriptions"
    open output m
    move "0010" to m-key move "abcd" to m-text
    write m-short                              display "write the short one   " fs
    move "0020" to m-key move all "m" to m-more
    write m-long                               display "write the long one    " fs
    close m
    open i-o m
    move all "*" to m-long
    read m next                                display "read                  " fs " " m-short
    read m next                                display "read                  " fs " " m-long
    move "0010" to m-key read m
    move all "n" to m-more
    rewrite m-long                             display "rewrite as a long one " fs
    move "0010" to m-key move spaces to m-more
    read m                                     display "read                  " fs " " m-long
    move "0020" to m-key move "efgh" to m-text
    rewrite m-short                            display "rewrite as a short one" fs
    move all "*" to m-long
    move "0020" to m-key
    read m                                     display "read                  " fs " " m-long(1:8)
    close m
    stop run.
