*> USE AFTER ERROR: procedures for one file, and for an open mode, are entered for what no phrase catches.
identification division.
program-id. declaratives.
environment division.
input-output section.
file-control.
    select f assign to "declfile" organization indexed access dynamic
        record key f-key alternate record key f-dup with duplicates file status fs.
    select g assign to "declother" organization indexed access sequential
        record key g-key file status gs.
    select h assign to "declthird" organization indexed access dynamic
        record key h-key.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
   05 f-dup pic x(4).
fd g.
01 g-record.
   05 g-key pic x(4).
fd h.
01 h-record.
   05 h-key pic x(4).
working-storage section.
01 fs pic xx.
01 gs pic xx.
procedure division.
declaratives.
on-f section.
    use after standard error procedure on f.
on-f-paragraph.
    display "    the procedure of f: " fs.
on-output section.
    use after standard error procedure on output.
on-output-paragraph.
    display "    the procedure of output: " gs.
on-h section.
    use after standard exception procedure on h.
on-h-paragraph.
    display "    the procedure of h".
end declaratives.
main-section section.
main-line.
    display "open input f, missing"               open input f
    display "close f, not open"                   close f
    display "open output f"                       open output f
    move "0010" to f-key move "D1" to f-dup
    display "write f"                             write f-record
    display "write f again"                       write f-record
    display "write f again, with invalid key"     write f-record invalid key display "    invalid key" end-write
    move "0020" to f-key
    display "write f, a duplicate"                write f-record
    display "read f next, open output"            read f next
    close f
    display "open i-o f"                          open i-o f
    display "read f next"                         read f next
    display "read f next"                         read f next
    display "read f next, the end"                read f next
    display "read f next again"                   read f next
    display "read f next again, with at end"      read f next at end display "    at end" end-read
    move "0010" to f-key
    display "read f"                              read f
    display "rewrite f"                           rewrite f-record
    move "0099" to f-key
    display "read f, no such key"                 read f
    display "delete f, with invalid key"          delete f invalid key display "    invalid key" end-delete
    display "open i-o f, it is open"              open i-o f
    display "close f"                             close f
    display "open output g"                       open output g
    move "0020" to g-key
    display "write g 0020"                        write g-record
    move "0010" to g-key
    display "write g 0010"                        write g-record
    close g
    display "open input h, missing"               open input h
    display "read h next, closed"                 read h next
    display "write h, closed"                     write h-record
    display "done"
    stop run.
