*> SORT and MERGE from and into indexed files.
identification division.
program-id. sort-files.
environment division.
input-output section.
file-control.
    select f assign to "sortinput" organization indexed access sequential
        record key f-key alternate record key f-town with duplicates file status fs.
    select g assign to "sortgiving" organization indexed access dynamic
        record key g-town file status gs.
    select h assign to "sorthird" organization line sequential file status fs.
    select missing assign to "sortmissing" organization indexed access sequential
        record key m-key file status ms.
    select w assign to "sortwork".
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
   05 f-town pic x(8).
   05 f-text pic x(6).
fd g.
01 g-record.
   05 g-key pic x(4).
   05 g-town pic x(8).
   05 g-text pic x(10).
fd h.
01 h-record pic x(22).
fd missing.
01 m-record.
   05 m-key pic x(4).
   05 filler pic x(14).
sd w.
01 w-record.
   05 w-key pic x(4).
   05 w-town pic x(8).
   05 w-text pic x(10).
working-storage section.
01 fs pic xx.
01 gs pic xx.
01 ms pic xx.
procedure division.
main-line.
    open output f
    move "0010" to f-key move "Zug" to f-town move "one" to f-text write f-record
    move "0020" to f-key move "Aarau" to f-town move "two" to f-text write f-record
    move "0030" to f-key move "Chur" to f-town move "three" to f-text write f-record
    move "0040" to f-key move "Bern" to f-town move "four" to f-text write f-record
    close f
    display "using f, giving g"
    sort w on ascending key w-town using f giving g
    perform show-g
    display "using g, giving g and h, descending"
    sort w on descending key w-key using g giving h
    open input h
    perform until fs not = "00"
        read h next
        if fs = "00" display "  " h-record end-if
    end-perform
    close h
    display "using f, an output procedure"
    sort w on ascending key w-town using f output procedure show-sorted
    display "an input procedure, giving two files"
    sort w on ascending key w-town input procedure make-records giving g h
    perform show-g
    open input h
    perform until fs not = "00"
        read h next
        if fs = "00" display "  " h-record end-if
    end-perform
    close h
    display "using a missing file"
    sort w on ascending key w-town using missing giving h
    open input h
    read h next                                  display "  h: " fs
    close h
    display "after it, f can be opened"
    open i-o f                                   display "  open " fs
    read f next                                  display "  read " fs " " f-record
    close f
    stop run.

show-g.
    open input g
    perform until gs not = "00"
        read g next
        if gs = "00" display "  " g-record end-if
    end-perform
    close g.

show-sorted.
    perform 4 times
        return w at end display "  end" not at end display "  " w-record end-return
    end-perform
    return w at end display "  end" not at end display "  " w-record end-return.

make-records.
    move "0002" to w-key move "Wil" to w-town move "second" to w-text release w-record
    move "0001" to w-key move "Arth" to w-town move "first" to w-text release w-record
    move "0003" to w-key move "Wil" to w-town move "a third" to w-text release w-record.
