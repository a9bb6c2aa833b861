*> AT END, INVALID KEY and their NOTs, without FILE STATUS: which branch is taken.
identification division.
program-id. at-end.
environment division.
input-output section.
file-control.
    select f assign to "atendfile" organization indexed access dynamic
        record key f-key alternate record key f-dup with duplicates alternate record key f-uni.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
   05 f-dup pic x(4).
   05 f-uni pic x(4).
procedure division.
    open output f
    move "0010" to f-key move "D1" to f-dup move "U1" to f-uni
    write f-record
        invalid key display "write 0010:                         invalid key"
        not invalid key display "write 0010:                         good"
    end-write
    write f-record
        invalid key display "write 0010 again:                   invalid key"
        not invalid key display "write 0010 again:                   good"
    end-write
    move "0020" to f-key
    write f-record
        invalid key display "write with a unique key again:      invalid key"
        not invalid key display "write with a unique key again:      good"
    end-write
    move "U2" to f-uni
    write f-record
        invalid key display "write of a duplicate:               invalid key"
        not invalid key display "write of a duplicate:               good"
    end-write
    close f
    open i-o f
    read f next
        at end display "read next:                          at end"
        not at end display "read next:                          good " f-key
    end-read
    read f next
        at end display "read next:                          at end"
        not at end display "read next:                          good " f-key
    end-read
    read f next
        at end display "read next:                          at end"
        not at end display "read next:                          good " f-key
    end-read
    *> Right after AT END, an operation that succeeds must not enter any error handler.
    move "0010" to f-key
    read f
        invalid key display "read 0010:                          invalid key"
        not invalid key display "read 0010:                          good " f-key
    end-read
    rewrite f-record
    read f previous
        at end display "read previous:                      at end"
        not at end display "read previous:                      good " f-key
    end-read
    move "0099" to f-key
    read f
        invalid key display "read 0099:                          invalid key"
        not invalid key display "read 0099:                          good"
    end-read
    move "D9" to f-dup
    read f key is f-dup
        invalid key display "read by D9:                         invalid key"
        not invalid key display "read by D9:                         good"
    end-read
    start f key greater f-key
        invalid key display "start above 0099:                   invalid key"
        not invalid key display "start above 0099:                   good"
    end-start
    move "0015" to f-key
    start f key not less f-key
        invalid key display "start from 0015:                    invalid key"
        not invalid key display "start from 0015:                    good"
    end-start
    read f next at end display "at end" not at end display "read next:                          good " f-key end-read
    move "0099" to f-key
    rewrite f-record
        invalid key display "rewrite 0099:                       invalid key"
        not invalid key display "rewrite 0099:                       good"
    end-rewrite
    delete f
        invalid key display "delete 0099:                        invalid key"
        not invalid key display "delete 0099:                        good"
    end-delete
    move "0020" to f-key
    read f
    move "U1" to f-uni
    rewrite f-record
        invalid key display "rewrite with a unique key again:    invalid key"
        not invalid key display "rewrite with a unique key again:    good"
    end-rewrite
    delete f
        invalid key display "delete 0020:                        invalid key"
        not invalid key display "delete 0020:                        good"
    end-delete
    close f
    stop run.
