*> Starts another program, and forks itself, with a file open. The argument says which.
identification division.
program-id. forker.
environment division.
input-output section.
file-control.
    select f assign to "forkfile" organization indexed access dynamic
        record key f-key file status fs.
    select g assign to "forkother" organization indexed access dynamic
        record key g-key file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
fd g.
01 g-record.
   05 g-key pic x(4).
working-storage section.
01 fs pic xx.
01 what pic x(8).
01 child pic s9(9) comp-5.
01 ended pic s9(9) comp-5.
procedure division.
    accept what from argument-value
    open output f
    move "0010" to f-key write f-record
    if what = "start"
        *> It outlives this program, and must not hold the file.
        call "SYSTEM" using "sleep 100 > /dev/null 2>&1 & echo $!"
        stop run
    end-if
    call "CBL_GC_FORK" returning child
    if child = 0
        move "0020" to f-key
        write f-record                          display "child: write          " fs
        read f                                  display "child: read           " fs
        open output g                           display "child: open another   " fs
        close f                                 display "child: close          " fs
        stop run
    end-if
    call "CBL_GC_WAITPID" using child returning ended
    move "0030" to f-key
    write f-record                              display "parent: write         " fs
    close f                                     display "parent: close         " fs
    open input f                                display "parent: open input    " fs
    perform until fs not = "00"
        read f next
        if fs = "00" display "  " f-key end-if
    end-perform
    stop run.
