*> Makes a line sequential file under the name that the argument gives.
identification division.
program-id. names_sequential.
environment division.
input-output section.
file-control.
    select f assign to f-name organization line sequential file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(4).
working-storage section.
01 fs pic xx.
01 f-name pic x(100).
procedure division.
    accept f-name from argument-value
    open output f
    if fs = "00" close f else display "failed" end-if
    stop run.
