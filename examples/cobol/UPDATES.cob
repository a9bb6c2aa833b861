       IDENTIFICATION DIVISION.
       PROGRAM-ID. UPDATES.
      *    Works through a list of changes:
      *        M 000104 Utrecht     customer 104 moves to Utrecht
      *        S 00001003           order 1003 is shipped
      *        C 00001005           order 1005 is cancelled
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           COPY CUSTSEL.
           COPY ORDSEL.
           SELECT CHANGES ASSIGN TO "changes.txt"
               ORGANIZATION IS LINE SEQUENTIAL.
       DATA DIVISION.
       FILE SECTION.
           COPY CUSTREC.
           COPY ORDREC.
       FD  CHANGES.
       01  CHANGE.
           05  CHANGE-KIND          PIC X.
           05  FILLER               PIC X.
           05  CHANGE-ORDER         PIC 9(8).
           05  CHANGE-CUSTOMER REDEFINES CHANGE-ORDER.
               10  CUSTOMER-NUMBER  PIC 9(6).
               10  FILLER           PIC X.
               10  TOWN-FIRST       PIC X.
           05  TOWN-REST            PIC X(14).
       WORKING-STORAGE SECTION.
       01  CUST-STATUS              PIC XX.
       01  ORD-STATUS               PIC XX.
       01  LIST-END                 PIC X VALUE "N".
           88  END-OF-LIST          VALUE "Y".
       PROCEDURE DIVISION.
       MAIN-LINE.
           OPEN INPUT CHANGES I-O CUST-FILE ORD-FILE.
           IF CUST-STATUS NOT = "00" OR ORD-STATUS NOT = "00"
               DISPLAY "FILES CANNOT BE OPENED, STATUS " CUST-STATUS
                   " AND " ORD-STATUS
               STOP RUN RETURNING 1
           END-IF.
           PERFORM ONE-CHANGE UNTIL END-OF-LIST.
           CLOSE CHANGES CUST-FILE ORD-FILE.
           STOP RUN.
       ONE-CHANGE.
           MOVE SPACES TO CHANGE.
           READ CHANGES
               AT END
                   MOVE "Y" TO LIST-END
               NOT AT END
                   EVALUATE CHANGE-KIND
                       WHEN "M"
                           PERFORM MOVE-CUSTOMER
                       WHEN "S"
                           PERFORM SHIP-ORDER
                       WHEN "C"
                           PERFORM CANCEL-ORDER
                       WHEN OTHER
                           DISPLAY "NO SUCH CHANGE: " CHANGE
                   END-EVALUATE
           END-READ.
       MOVE-CUSTOMER.
           MOVE CUSTOMER-NUMBER TO CUST-NUMBER.
           READ CUST-FILE
               INVALID KEY
                   DISPLAY "NO CUSTOMER " CUSTOMER-NUMBER
               NOT INVALID KEY
                   STRING TOWN-FIRST TOWN-REST DELIMITED BY SIZE
                       INTO CUST-TOWN
                   REWRITE CUST-RECORD
                       INVALID KEY
                           DISPLAY "CUSTOMER " CUST-NUMBER
                               " NOT CHANGED, STATUS " CUST-STATUS
                       NOT INVALID KEY
                           DISPLAY "CUSTOMER " CUST-NUMBER
                               " MOVED TO " CUST-TOWN
                   END-REWRITE
           END-READ.
       SHIP-ORDER.
           MOVE CHANGE-ORDER TO ORD-NUMBER.
           READ ORD-FILE
               INVALID KEY
                   DISPLAY "NO ORDER " CHANGE-ORDER
               NOT INVALID KEY
                   SET ORD-IS-SHIPPED TO TRUE
                   REWRITE ORD-RECORD
                       INVALID KEY
                           DISPLAY "ORDER " ORD-NUMBER
                               " NOT CHANGED, STATUS " ORD-STATUS
                       NOT INVALID KEY
                           DISPLAY "ORDER " ORD-NUMBER " SHIPPED"
                   END-REWRITE
           END-READ.
       CANCEL-ORDER.
           MOVE CHANGE-ORDER TO ORD-NUMBER.
           DELETE ORD-FILE RECORD
               INVALID KEY
                   DISPLAY "NO ORDER " CHANGE-ORDER
               NOT INVALID KEY
                   DISPLAY "ORDER " ORD-NUMBER " CANCELLED"
           END-DELETE.
