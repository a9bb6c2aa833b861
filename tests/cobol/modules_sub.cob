*> The module that modules.cob calls.
identification division.
program-id. modules_sub.
environment division.
input-output section.
file-control.
    select f assign to "sharedfile" organization indexed access dynamic
        record key f-key alternate record key f-town with duplicates file status fs.
    select e assign to "externalfile" organization indexed access dynamic
        record key e-key alternate record key e-town with duplicates file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
   05 f-town pic x(8).
fd e is external.
01 e-record.
   05 e-key pic x(4).
   05 e-town pic x(8).
working-storage section.
01 fs pic xx.
01 opened pic 9 value 0.
01 next-key pic 9(4) value 20.
linkage section.
01 what pic x(5).
procedure division using what.
    evaluate what(1:4)
        when "writ"
            if opened = 0
                open i-o f                     display "  sub: open i-o f         " fs
                move 1 to opened
            end-if
            move next-key to f-key move "Basel" to f-town
            write f-record                     display "  sub: write " f-key "         " fs
            move "E020" to e-key move "Chur" to e-town
            write e-record                     display "  sub: write E020 of e    " fs
        when "read"
            move "Aarau" to f-town
            read f key is f-town               display "  sub: read town Aarau    " fs " " f-record
        when "next"
            move "Chur" to e-town
            read e key is e-town               display "  sub: read town Chur of e" fs " " e-record
        when "clos"
            close f                            display "  sub: close f            " fs
    end-evaluate
    goback.
