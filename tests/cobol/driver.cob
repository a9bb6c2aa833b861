*> Does what the lines of standard input say, and answers each on standard error with a line that begins with ">".
*>
*>   open input|output|i-o|extend       read KEY        write KEY TEXT       delete KEY
*>   close                              next            rewrite KEY TEXT     delete-file
*>   lock (open input with lock)        previous        town TOWN            quit
identification division.
program-id. driver.
environment division.
input-output section.
file-control.
    select f assign to f-name organization indexed access dynamic
        record key f-key alternate record key f-town with duplicates
        file status fs.
data division.
file section.
fd f.
01 f-record.
   05 f-key pic x(6).
   05 f-town pic x(6).
   05 f-text pic x(188).
working-storage section.
01 fs pic xx.
01 f-name pic x(200).
01 a-line pic x(80).
01 verb pic x(12).
01 word-1 pic x(12).
01 word-2 pic x(40).
procedure division.
main-line.
    accept f-name from argument-value
*> The end of the input gives spaces.
    perform until verb = "quit"
        move spaces to a-line verb word-1 word-2
        accept a-line
        if a-line = spaces move "quit" to a-line end-if
        unstring a-line delimited by all spaces into verb word-1 word-2
        move "--" to fs
        evaluate verb
            when "open"
                evaluate word-1
                    when "input" open input f
                    when "output" open output f
                    when "i-o" open i-o f
                    when "extend" open extend f
                end-evaluate
            when "lock" open input f with lock
            when "close" close f
            when "read" move word-1 to f-key read f
            when "town" move word-1 to f-town read f key is f-town
            when "next" read f next
            when "previous" read f previous
            when "write" perform fill-record write f-record
            when "rewrite" perform fill-record rewrite f-record
            when "delete" move word-1 to f-key delete f
            when "delete-file" delete file f
        end-evaluate
        if fs = "00" and (verb = "read" or verb = "town" or verb = "next" or verb = "previous")
            display "> " fs " " f-key " " f-town " " f-text(1:20) upon syserr
        else
            display "> " fs upon syserr
        end-if
    end-perform
    stop run.

fill-record.
    move word-1 to f-key
    move word-2 to f-town f-text
    move all "." to f-text(41:).
