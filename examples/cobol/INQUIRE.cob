       IDENTIFICATION DIVISION.
       PROGRAM-ID. INQUIRE.
      *    Finds customers: INQUIRE NUMBER 000104, INQUIRE NAME Mei,
      *    INQUIRE TOWN Delft. A name or town may be its beginning.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           COPY CUSTSEL.
       DATA DIVISION.
       FILE SECTION.
           COPY CUSTREC.
       WORKING-STORAGE SECTION.
       01  CUST-STATUS              PIC XX.
       01  WANTED-KEY               PIC X(6).
       01  WANTED                   PIC X(20).
       01  WANTED-LENGTH            PIC 99 VALUE 0.
       01  SHOWN-LIMIT              PIC Z(6)9.99.
       PROCEDURE DIVISION.
       MAIN-LINE.
           ACCEPT WANTED-KEY FROM ARGUMENT-VALUE.
           ACCEPT WANTED FROM ARGUMENT-VALUE.
           INSPECT WANTED TALLYING WANTED-LENGTH
               FOR CHARACTERS BEFORE INITIAL " ".
           OPEN INPUT CUST-FILE.
           IF CUST-STATUS NOT = "00"
               DISPLAY "CUSTFILE CANNOT BE OPENED, STATUS " CUST-STATUS
               STOP RUN RETURNING 1
           END-IF.
           EVALUATE WANTED-KEY
               WHEN "NUMBER"
                   PERFORM BY-NUMBER
               WHEN "NAME"
                   PERFORM BY-NAME
               WHEN "TOWN"
                   PERFORM BY-TOWN
               WHEN OTHER
                   DISPLAY "NUMBER, NAME OR TOWN?"
           END-EVALUATE.
           CLOSE CUST-FILE.
           STOP RUN.
       BY-NUMBER.
           MOVE WANTED(1:6) TO CUST-NUMBER.
           READ CUST-FILE
               INVALID KEY
                   DISPLAY "NO CUSTOMER " WANTED(1:6)
               NOT INVALID KEY
                   PERFORM SHOW
           END-READ.
      *    From the first name that is not below the one wanted, as
      *    long as names begin with it.
       BY-NAME.
           MOVE WANTED TO CUST-NAME.
           START CUST-FILE KEY IS NOT LESS THAN CUST-NAME
               INVALID KEY
                   CONTINUE
           END-START.
           PERFORM NEXT-NAME UNTIL CUST-STATUS NOT = "00".
       NEXT-NAME.
           READ CUST-FILE NEXT RECORD
               AT END
                   CONTINUE
               NOT AT END
                   IF CUST-NAME(1:WANTED-LENGTH)
                       = WANTED(1:WANTED-LENGTH)
                       PERFORM SHOW
                   ELSE
                       MOVE "10" TO CUST-STATUS
                   END-IF
           END-READ.
       BY-TOWN.
           MOVE WANTED TO CUST-TOWN.
           START CUST-FILE KEY IS NOT LESS THAN CUST-TOWN
               INVALID KEY
                   CONTINUE
           END-START.
           PERFORM NEXT-TOWN UNTIL CUST-STATUS NOT = "00".
       NEXT-TOWN.
           READ CUST-FILE NEXT RECORD
               AT END
                   CONTINUE
               NOT AT END
                   IF CUST-TOWN(1:WANTED-LENGTH)
                       = WANTED(1:WANTED-LENGTH)
                       PERFORM SHOW
                   ELSE
                       MOVE "10" TO CUST-STATUS
                   END-IF
           END-READ.
       SHOW.
           MOVE CUST-LIMIT TO SHOWN-LIMIT.
           DISPLAY CUST-NUMBER " " CUST-NAME " " CUST-TOWN SHOWN-LIMIT.
