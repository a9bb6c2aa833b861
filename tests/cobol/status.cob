*> Each row of the table of file statuses, with FILE STATUS and nothing else.
identification division.
program-id. file-status.
environment division.
input-output section.
file-control.
    select f assign to f-name organization indexed access dynamic
        record key f-key alternate record key f-dup with duplicates alternate record key f-uni
        file status fs.
    select s assign to f-name organization indexed access sequential
        record key s-key alternate record key s-dup with duplicates alternate record key s-uni
        file status fs.
    select optional o assign to "optionalfile" organization indexed access dynamic
        record key o-key file status fs.
    select long assign to f-name organization indexed access dynamic
        record key long-key alternate record key long-dup with duplicates alternate record key long-uni
        file status fs.
    select short assign to f-name organization indexed access dynamic
        record key short-key alternate record key short-dup with duplicates alternate record key short-uni
        file status fs.
    select subset assign to f-name organization indexed access dynamic
        record key subset-key file status fs.
    select moved assign to f-name organization indexed access dynamic
        record key moved-key file status fs.
    select more assign to f-name organization indexed access dynamic
        record key more-key alternate record key more-dup with duplicates alternate record key more-uni
        alternate record key more-text file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
   05 f-dup pic x(4).
   05 f-uni pic x(4).
   05 f-text pic x(8).
fd s.
01 s-record.
   05 s-key pic x(4).
   05 s-dup pic x(4).
   05 s-uni pic x(4).
   05 s-text pic x(8).
fd o.
01 o-record.
   05 o-key pic x(4).
   05 o-text pic x(8).
fd long.
01 long-record.
   05 long-key pic x(4).
   05 long-dup pic x(4).
   05 long-uni pic x(4).
   05 long-text pic x(8).
   05 long-rest pic x(10).
fd short.
01 short-record.
   05 short-key pic x(4).
   05 short-dup pic x(4).
   05 short-uni pic x(4).
fd subset.
01 subset-record.
   05 subset-key pic x(4).
   05 subset-text pic x(16).
fd moved.
01 moved-record.
   05 moved-text pic x(4).
   05 moved-key pic x(4).
   05 moved-rest pic x(12).
fd more.
01 more-record.
   05 more-key pic x(4).
   05 more-dup pic x(4).
   05 more-uni pic x(4).
   05 more-text pic x(8).
working-storage section.
01 fs pic xx.
01 f-name pic x(40) value "statusfile".
procedure division.
    display "open and close"
    open input f                               display "open input, the file is missing        " fs
    open i-o f                                 display "open i-o, the file is missing          " fs
    open extend f                              display "open extend, the file is missing       " fs
    close f                                    display "close, not open                        " fs
    move "nowhere/statusfile" to f-name
    open output f                              display "open output, into a missing folder     " fs
    move "." to f-name
    open i-o f                                 display "open i-o, a folder                     " fs
    move spaces to f-name
    open output f                              display "open output, an empty name             " fs
    move "statusfile" to f-name
    open output f                              display "open output                            " fs
    open output f                              display "open output, it is open                " fs
    open input f                               display "open input, it is open                 " fs

    display "write"
    move "0020" to f-key move "D1" to f-dup move "U1" to f-uni move "one" to f-text
    write f-record                             display "write                                  " fs
    write f-record                             display "write, the key is there                " fs
    move "0010" to f-key move "D2" to f-dup
    write f-record                             display "write, a unique alternate is there     " fs
    move "U2" to f-uni
    write f-record                             display "write, another key                     " fs
    move "0030" to f-key move "D1" to f-dup move "U3" to f-uni
    write f-record                             display "write, makes a duplicate               " fs
    read f next                                display "read next, open output                 " fs
    read f                                     display "read, open output                      " fs
    start f key equal f-key                    display "start, open output                     " fs
    rewrite f-record                           display "rewrite, open output                   " fs
    delete f                                   display "delete, open output                    " fs
    close f                                    display "close                                  " fs
    close f                                    display "close again                            " fs
    read f next                                display "read next, closed                      " fs
    read f                                     display "read, closed                           " fs
    start f key equal f-key                    display "start, closed                          " fs
    write f-record                             display "write, closed                          " fs
    rewrite f-record                           display "rewrite, closed                        " fs
    delete f                                   display "delete, closed                         " fs

    display "open input"
    open input f                               display "open input                             " fs
    read f previous                            display "read previous, right after open        " fs
    close f open input f
    write f-record                             display "write                                  " fs
    rewrite f-record                           display "rewrite                                " fs
    delete f                                   display "delete                                 " fs
    move "0099" to f-key
    read f                                     display "read, no such key                      " fs
    read f next                                display "read next after that                   " fs
    move "0099" to f-key
    start f key equal f-key                    display "start, no such key                     " fs
    read f next                                display "read next after that                   " fs
    move "0010" to f-key
    read f                                     display "read 0010                              " fs " " f-key
    read f next                                display "read next                              " fs " " f-key
    read f next                                display "read next                              " fs " " f-key
    read f next                                display "read next, the end                     " fs
    read f next                                display "read next again                        " fs
    read f previous                            display "read previous after the end            " fs
    move "D1" to f-dup
    read f key is f-dup                        display "read by duplicate key                  " fs " " f-key
    read f next                                display "read next                              " fs " " f-key
    close f

    display "open i-o"
    open i-o f                                 display "open i-o                               " fs
    move "0099" to f-key move "D9" to f-dup move "U9" to f-uni
    rewrite f-record                           display "rewrite, no such key                   " fs
    delete f                                   display "delete, no such key                    " fs
    move "0010" to f-key read f
    move "U1" to f-uni
    rewrite f-record                           display "rewrite, a unique alternate is there   " fs
    move "U2" to f-uni move "D1" to f-dup
    rewrite f-record                           display "rewrite, makes a duplicate             " fs
    rewrite f-record                           display "rewrite, leaves it as it was           " fs
    move "0010" to f-key
    delete f                                   display "delete                                 " fs
    read f                                     display "read what was deleted                  " fs
    close f

    display "open extend"
    open extend f                              display "open extend                            " fs
    move "0040" to f-key move "D4" to f-dup move "U4" to f-uni
    write f-record                             display "write                                  " fs
    read f next                                display "read next                              " fs
    rewrite f-record                           display "rewrite                                " fs
    delete f                                   display "delete                                 " fs
    close f

    display "sequential access"
    open output s                              display "open output                            " fs
    move "0020" to s-key move "D1" to s-dup move "U1" to s-uni move "one" to s-text
    write s-record                             display "write 0020                             " fs
    move "0010" to s-key move "U2" to s-uni
    write s-record                             display "write 0010, below the last             " fs
    move "0020" to s-key
    write s-record                             display "write 0020, the last again             " fs
    move "0030" to s-key
    write s-record                             display "write 0030                             " fs
    close s
    open extend s
    move "0025" to s-key move "U3" to s-uni
    write s-record                             display "extend: write 0025, below the last     " fs
    move "0040" to s-key
    write s-record                             display "extend: write 0040                     " fs
    close s
    open i-o s
    write s-record                             display "write, open i-o                        " fs
    rewrite s-record                           display "rewrite without read                   " fs
    delete s                                   display "delete without read                    " fs
    read s                                     display "read                                   " fs " " s-key
    move "0021" to s-key
    rewrite s-record                           display "rewrite with another primary key       " fs
    read s                                     display "read                                   " fs " " s-key
    rewrite s-record                           display "rewrite                                " fs
    rewrite s-record                           display "rewrite again                          " fs
    read s                                     display "read                                   " fs " " s-key
    delete s                                   display "delete                                 " fs
    delete s                                   display "delete again                           " fs
    read s                                     display "read, the end                          " fs
    read s                                     display "read again                             " fs
    delete s                                   display "delete after that                      " fs
    close s

    display "an optional file"
    open input o                               display "open input                             " fs
    read o next                                display "read next                              " fs
    read o next                                display "read next again                        " fs
    move "0010" to o-key
    read o                                     display "read                                   " fs
    start o key equal o-key                    display "start                                  " fs
    close o                                    display "close                                  " fs
    open i-o o                                 display "open i-o                               " fs
    move "0010" to o-key
    write o-record                             display "write                                  " fs
    close o                                    display "close                                  " fs
    open extend o                              display "open extend, it is there now           " fs
    close o

    display "a program that describes the file otherwise"
    open i-o long                              display "longer records                         " fs
    move all "*" to long-record
    read long next                             display "  read next                            " fs " " long-record
    close long
    open i-o short                             display "shorter records                        " fs
    close short
    open i-o subset                            display "fewer alternate keys                   " fs
    move "0050" to subset-key move "D5  U5  fifty" to subset-text
    write subset-record                        display "  write                                " fs
    close subset
    open i-o f
    move "U5" to f-uni
    read f key is f-uni                        display "  read by a key left out               " fs " " f-record
    close f
    open i-o moved                             display "another primary key                    " fs
    close moved
    open i-o more                              display "more alternate keys                    " fs
    close more

    display "close with lock"
    open input f
    close f with lock                          display "close with lock                        " fs
    open input f                               display "open after that                        " fs
    stop run.
