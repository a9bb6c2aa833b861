*> The three access modes on one file: what each may do, and in which order records come.
identification division.
program-id. access-modes.
environment division.
input-output section.
file-control.
    select sequ assign to "accessfile" organization indexed access sequential
        record key sequ-key alternate record key sequ-town with duplicates file status fs.
    select rand assign to "accessfile" organization indexed access random
        record key rand-key alternate record key rand-town with duplicates file status fs.
    select dyna assign to "accessfile" organization indexed access dynamic
        record key dyna-key alternate record key dyna-town with duplicates file status fs.
data division.
file section.
fd sequ.
01 sequ-record.
   05 sequ-key pic x(4).
   05 sequ-town pic x(8).
   05 sequ-text pic x(8).
fd rand.
01 rand-record.
   05 rand-key pic x(4).
   05 rand-town pic x(8).
   05 rand-text pic x(8).
fd dyna.
01 dyna-record.
   05 dyna-key pic x(4).
   05 dyna-town pic x(8).
   05 dyna-text pic x(8).
working-storage section.
01 fs pic xx.
procedure division.
    display "sequential access: written in the order of the key"
    open output sequ                              display "open output           " fs
    move "0010" to sequ-key move "Bern" to sequ-town move "first" to sequ-text
    write sequ-record                             display "write 0010            " fs
    move "0020" to sequ-key move "Aarau" to sequ-town move "second" to sequ-text
    write sequ-record                             display "write 0020            " fs
    move "0030" to sequ-key move "Bern" to sequ-town move "third" to sequ-text
    write sequ-record                             display "write 0030            " fs
    close sequ                                    display "close                 " fs

    open extend sequ                              display "open extend           " fs
    move "0040" to sequ-key move "Chur" to sequ-town move "fourth" to sequ-text
    write sequ-record                             display "write 0040            " fs
    close sequ

    display "sequential access: read, rewritten and deleted one after another"
    open i-o sequ                                 display "open i-o              " fs
    read sequ                                     display "read                  " fs " " sequ-record
    move "FIRST" to sequ-text
    rewrite sequ-record                           display "rewrite               " fs
    read sequ                                     display "read                  " fs " " sequ-record
    delete sequ                                   display "delete                " fs
    read sequ                                     display "read                  " fs " " sequ-record
    move "Bern" to sequ-town
    start sequ key equal sequ-town                display "start town = Bern     " fs
    read sequ                                     display "read                  " fs " " sequ-record
    read sequ                                     display "read                  " fs " " sequ-record
    read sequ                                     display "read                  " fs " " sequ-record
    close sequ

    display "random access: by key"
    open i-o rand                                 display "open i-o              " fs
    move "0030" to rand-key
    read rand                                     display "read 0030             " fs " " rand-record
    move "Davos" to rand-town
    rewrite rand-record                           display "rewrite 0030          " fs
    move "0005" to rand-key move "Genf" to rand-town move "fifth" to rand-text
    write rand-record                             display "write 0005            " fs
    move "Davos" to rand-town
    read rand key is rand-town                    display "read town Davos       " fs " " rand-record
    move "0040" to rand-key
    delete rand                                   display "delete 0040           " fs
    read rand                                     display "read 0040             " fs
    close rand

    display "dynamic access: both"
    open i-o dyna                                 display "open i-o              " fs
    read dyna next                                display "read next             " fs " " dyna-record
    read dyna next                                display "read next             " fs " " dyna-record
    read dyna previous                            display "read previous         " fs " " dyna-record
    move "0030" to dyna-key
    read dyna                                     display "read 0030             " fs " " dyna-record
    read dyna previous                            display "read previous         " fs " " dyna-record
    read dyna next                                display "read next             " fs " " dyna-record
    read dyna next                                display "read next, at the end " fs
    read dyna previous                            display "read previous         " fs " " dyna-record
    move "Bern" to dyna-town
    read dyna key is dyna-town                    display "read town Bern        " fs " " dyna-record
    read dyna next                                display "read next by town     " fs " " dyna-record
    read dyna next                                display "read next by town     " fs " " dyna-record
    move "0015" to dyna-key move "Basel" to dyna-town move "new" to dyna-text
    write dyna-record                             display "write 0015            " fs
    close dyna

    open input dyna                               display "open input            " fs
    perform until fs not = "00"
        read dyna next
        if fs = "00" display "  " dyna-record end-if
    end-perform
    close dyna                                    display "close                 " fs
    stop run.
