*> DELETE FILE: of an open file, a closed one, a missing one, and one that this program never opened.
identification division.
program-id. delete-files.
environment division.
input-output section.
file-control.
    select f assign to "deletefile" organization indexed access dynamic
        record key f-key alternate record key f-town with duplicates file status fs.
    select twin assign to "deletefile" organization indexed access dynamic
        record key twin-key alternate record key twin-town with duplicates file status fs.
    select s assign to "deleteseq" organization line sequential file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
   05 f-town pic x(8).
fd twin.
01 twin-record.
   05 twin-key pic x(4).
   05 twin-town pic x(8).
fd s.
01 s-record pic x(8).
working-storage section.
01 fs pic xx.
procedure division.
    open output f
    move "0010" to f-key move "Bern" to f-town write f-record
    delete file f                              display "delete file, it is open     " fs
    close f                                    display "close                       " fs
    open input f                               display "open input, it is there     " fs
    close f
    delete file f                              display "delete file                 " fs
    open input f                               display "open input, it is gone      " fs
    delete file f                              display "delete file, it is gone     " fs
    open output f                              display "open output                 " fs
    close f
    delete file twin                           display "delete file, never opened   " fs
    open input f                               display "open input, it is gone      " fs
    open output f                              display "open output                 " fs
    write f-record                             display "write                       " fs
    close f
    open output s move "text" to s-record write s-record close s
    delete file s                              display "delete file, line sequential" fs
    open input s                               display "open input, it is gone      " fs
    stop run.
