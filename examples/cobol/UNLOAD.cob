       IDENTIFICATION DIVISION.
       PROGRAM-ID. UNLOAD.
      *    Writes the customers one after another into CUSTLIST. Compiled
      *    with cobc it reads the files that programs had before.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           COPY CUSTSEL.
           SELECT CUST-LIST ASSIGN TO "CUSTLIST"
               ORGANIZATION IS SEQUENTIAL.
       DATA DIVISION.
       FILE SECTION.
           COPY CUSTREC.
       FD  CUST-LIST.
       01  CUST-LINE                PIC X(50).
       WORKING-STORAGE SECTION.
       01  CUST-STATUS              PIC XX.
       01  CUST-COUNT               PIC 9(6) VALUE 0.
       PROCEDURE DIVISION.
       MAIN-LINE.
           OPEN INPUT CUST-FILE OUTPUT CUST-LIST.
           PERFORM UNTIL CUST-STATUS NOT = "00"
               READ CUST-FILE NEXT RECORD
                   AT END
                       CONTINUE
                   NOT AT END
                       WRITE CUST-LINE FROM CUST-RECORD
                       ADD 1 TO CUST-COUNT
               END-READ
           END-PERFORM.
           IF CUST-STATUS NOT = "10"
               DISPLAY "CUSTFILE CANNOT BE READ, STATUS " CUST-STATUS
               STOP RUN RETURNING 1
           END-IF.
           CLOSE CUST-FILE CUST-LIST.
           DISPLAY CUST-COUNT " CUSTOMERS UNLOADED".
           STOP RUN.
