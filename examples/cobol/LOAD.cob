       IDENTIFICATION DIVISION.
       PROGRAM-ID. LOAD.
      *    Makes both indexed files from lists.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           COPY CUSTSEL.
           COPY ORDSEL.
           SELECT CUST-LIST ASSIGN TO "customers.txt"
               ORGANIZATION IS LINE SEQUENTIAL.
           SELECT ORD-LIST ASSIGN TO "orders.txt"
               ORGANIZATION IS LINE SEQUENTIAL.
       DATA DIVISION.
       FILE SECTION.
           COPY CUSTREC.
           COPY ORDREC.
       FD  CUST-LIST.
       01  CUST-LINE                PIC X(50).
       FD  ORD-LIST.
       01  ORD-LINE                 PIC X(32).
       WORKING-STORAGE SECTION.
       01  CUST-STATUS              PIC XX.
       01  ORD-STATUS               PIC XX.
       01  LIST-END                 PIC X VALUE "N".
           88  END-OF-LIST          VALUE "Y".
       01  CUST-COUNT               PIC 9(6) VALUE 0.
       01  ORD-COUNT                PIC 9(6) VALUE 0.
       PROCEDURE DIVISION.
       MAIN-LINE.
           OPEN INPUT CUST-LIST OUTPUT CUST-FILE.
           IF CUST-STATUS NOT = "00"
               DISPLAY "CUSTFILE CANNOT BE MADE, STATUS " CUST-STATUS
               STOP RUN RETURNING 1
           END-IF.
           PERFORM LOAD-CUSTOMER UNTIL END-OF-LIST.
           CLOSE CUST-LIST CUST-FILE.
           MOVE "N" TO LIST-END.
           OPEN INPUT ORD-LIST OUTPUT ORD-FILE.
           IF ORD-STATUS NOT = "00"
               DISPLAY "ORDFILE CANNOT BE MADE, STATUS " ORD-STATUS
               STOP RUN RETURNING 1
           END-IF.
           PERFORM LOAD-ORDER UNTIL END-OF-LIST.
           CLOSE ORD-LIST ORD-FILE.
           DISPLAY CUST-COUNT " CUSTOMERS, " ORD-COUNT " ORDERS".
           STOP RUN.
       LOAD-CUSTOMER.
           READ CUST-LIST
               AT END
                   MOVE "Y" TO LIST-END
               NOT AT END
                   MOVE CUST-LINE TO CUST-RECORD
                   WRITE CUST-RECORD
                       INVALID KEY
                           DISPLAY "CUSTOMER " CUST-NUMBER
                               " IS THERE ALREADY, STATUS " CUST-STATUS
                       NOT INVALID KEY
                           ADD 1 TO CUST-COUNT
                   END-WRITE
           END-READ.
       LOAD-ORDER.
           READ ORD-LIST
               AT END
                   MOVE "Y" TO LIST-END
               NOT AT END
                   MOVE ORD-LINE TO ORD-RECORD
                   WRITE ORD-RECORD
                       INVALID KEY
                           DISPLAY "ORDER " ORD-NUMBER
                               " IS THERE ALREADY, STATUS " ORD-STATUS
                       NOT INVALID KEY
                           ADD 1 TO ORD-COUNT
                   END-WRITE
           END-READ.
