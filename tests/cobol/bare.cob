*> Neither FILE STATUS nor any phrase: what goes wrong ends the program with libcob's message.
*> The argument says how far to go wrong.
identification division.
program-id. bare.
environment division.
input-output section.
file-control.
    select f assign to "barefile" organization indexed access dynamic
        record key f-key.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
working-storage section.
01 what pic x(10).
procedure division.
    accept what from argument-value
    evaluate what
        when "good"
            open output f move "0010" to f-key write f-record close f
            open i-o f read f next move "0010" to f-key read f rewrite f-record delete f close f
        when "missing"
            open input f
        when "end"
            open output f close f open input f read f next
        when "key"
            open output f move "0010" to f-key write f-record write f-record
        when "order"
            open output f read f next
        when "closed"
            read f next
        when "close"
            close f
    end-evaluate
    display "done"
    stop run.
