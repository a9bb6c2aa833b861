identification division.
program-id. indexed-bench.

environment division.
input-output section.
file-control.
    select data-file assign to "BENCHFILE"
        organization is indexed
        access mode is dynamic
        record key is rec-key
        @KEYS@
        file status is data-status.
    select dump-file assign to "DUMPFILE"
        organization is sequential
        file status is dump-status.

data division.
file section.
fd  data-file.
01  rec.
    05  rec-key pic x(18).
    @FIELDS@
    05  filler pic x(8).

fd  dump-file.
01  dump-record pic x(260).

working-storage section.
01  data-status pic xx.
01  dump-status pic xx.
01  phase pic x(8).
01  kind pic x.
01  argument pic x(9).
01  n pic 9(9) comp-5.
01  stride pic 9(9) comp-5.
01  i pic 9(9) comp-5.
*> As wide as the product: gnucobol4 multiplies in the width of the factors.
01  j pic 9(18) comp-5 value 0.
01  product pic 9(18) comp-5.
01  digits.
    05  first-half pic 9(9).
    05  second-half pic 9(9).
01  twice pic x(36).

procedure division.
main-line.
    accept phase from environment "PHASE"
    accept kind from environment "VALUES"
    accept argument from environment "N"
    move argument to n
    accept argument from environment "STRIDE"
    move argument to stride
    evaluate phase
        when "WRITE"
            open output data-file
            perform check-status
            initialize rec all to value
            perform varying i from 1 by 1 until i > n
                move i to j
                perform make-key
                perform make-alternates
                write rec
                if data-status not = "00" and not = "02"
                    perform wrong
                end-if
            end-perform
        when "READ"
            open input data-file
            perform check-status
            perform varying i from 1 by 1 until i > n
                perform stride-on
                perform make-key
                read data-file
                perform check-status
            end-perform
        when "NEXT"
            open input data-file
            perform check-status
            move low-values to @ALONG@
            start data-file key is greater than @ALONG@
            perform check-status
            perform varying i from 1 by 1 until i > n
                read data-file next
                perform check-status
            end-perform
        when "PREVIOUS"
            open input data-file
            perform check-status
            move high-values to @ALONG@
            start data-file key is less than @ALONG@
            perform check-status
            perform varying i from 1 by 1 until i > n
                read data-file previous
                perform check-status
            end-perform
        when "REWRITE"
            open i-o data-file
            perform check-status
            perform varying i from 1 by 1 until i > n
                perform stride-on
                perform make-key
                read data-file
                perform check-status
                perform change-alternate
                rewrite rec
                if data-status not = "00" and not = "02"
                    perform wrong
                end-if
            end-perform
        when "DELETE"
            open i-o data-file
            perform check-status
            perform varying i from 1 by 1 until i > n
                perform stride-on
                perform make-key
                delete data-file
                perform check-status
            end-perform
        when "OPENI"
            perform varying i from 1 by 1 until i > n
                open input data-file
                perform check-status
                close data-file
                perform check-status
            end-perform
            stop run
        when "OPENIO"
            perform varying i from 1 by 1 until i > n
                open i-o data-file
                perform check-status
                close data-file
                perform check-status
            end-perform
            stop run
        when "DUMP"
            perform dump-all
        when other
            display "there is no phase " phase upon syserr
            stop run returning 2
    end-evaluate
    close data-file
    perform check-status
    stop run.

*> The next number: each from 1 to n comes once, in an order far from that of writing and from that of the keys.
stride-on.
    add stride to j
    if j > n
        subtract n from j
    end-if.

make-key.
    multiply j by 618033989 giving product
    move product to first-half
    multiply j by 414213563 giving product
    move product to second-half
    move digits to rec-key.

make-alternates.
    move digits to twice(1:18)
    move digits to twice(19:18)
    evaluate kind
        when "H"
            @HUNDRED@
        when "U"
            @UNIQUE@
    end-evaluate.

change-alternate.
    move digits to twice(1:18)
    move digits to twice(19:18)
    evaluate kind
        when "E"
            move "01" to @REWRITTEN@
        when "H"
            move twice(@OTHER@:2) to @REWRITTEN@
        when "U"
            move twice(@OTHER@:18) to @REWRITTEN@
    end-evaluate.

dump-all.
    open input data-file
    perform check-status
    open output dump-file
    move low-values to rec-key
    start data-file key is greater than rec-key
    perform dump-forwards
    move low-values to @ALONG@
    start data-file key is greater than @ALONG@
    perform dump-forwards
    move high-values to @LAST@
    start data-file key is less than @LAST@
    perform dump-backwards
    move low-values to @REWRITTEN@
    start data-file key is greater than @REWRITTEN@
    perform dump-forwards
    close dump-file.

dump-forwards.
    perform until data-status not = "00"
        read data-file next
        if data-status = "00"
            write dump-record from rec
        end-if
    end-perform.

dump-backwards.
    perform until data-status not = "00"
        read data-file previous
        if data-status = "00"
            write dump-record from rec
        end-if
    end-perform.

check-status.
    if data-status not = "00"
        perform wrong
    end-if.

wrong.
    display phase " has status " data-status " at record " i upon syserr
    stop run returning 1.
