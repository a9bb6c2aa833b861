       IDENTIFICATION DIVISION.
       PROGRAM-ID. REPORTS.
      *    All customers by name, each
      *    with its orders; then how many orders are to be shipped.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           COPY CUSTSEL.
           COPY ORDSEL.
       DATA DIVISION.
       FILE SECTION.
           COPY CUSTREC.
           COPY ORDREC.
       WORKING-STORAGE SECTION.
       01  CUST-STATUS              PIC XX.
       01  ORD-STATUS               PIC XX.
       01  TOTAL                    PIC 9(8)V99.
       01  SHOWN                    PIC Z(7)9.99.
       01  OPEN-COUNT               PIC 9(6) VALUE 0.
       PROCEDURE DIVISION.
       MAIN-LINE.
           OPEN INPUT CUST-FILE ORD-FILE.
           IF CUST-STATUS NOT = "00" OR ORD-STATUS NOT = "00"
               DISPLAY "FILES CANNOT BE OPENED, STATUS " CUST-STATUS
                   " AND " ORD-STATUS
               STOP RUN RETURNING 1
           END-IF.
           MOVE LOW-VALUES TO CUST-NAME.
           START CUST-FILE KEY IS NOT LESS THAN CUST-NAME
               INVALID KEY
                   DISPLAY "NO CUSTOMERS"
           END-START.
           PERFORM UNTIL CUST-STATUS NOT = "00"
               READ CUST-FILE NEXT RECORD
                   AT END
                       CONTINUE
                   NOT AT END
                       PERFORM ONE-CUSTOMER
               END-READ
           END-PERFORM.
           MOVE "N" TO ORD-STATE.
           START ORD-FILE KEY IS EQUAL TO ORD-STATE
               INVALID KEY
                   CONTINUE
           END-START.
           PERFORM UNTIL ORD-STATUS NOT = "00"
               READ ORD-FILE NEXT RECORD
                   AT END
                       CONTINUE
                   NOT AT END
                       IF ORD-IS-NEW
                           ADD 1 TO OPEN-COUNT
                       ELSE
                           MOVE "10" TO ORD-STATUS
                       END-IF
               END-READ
           END-PERFORM.
           DISPLAY OPEN-COUNT " ORDERS TO BE SHIPPED".
           CLOSE CUST-FILE ORD-FILE.
           STOP RUN.
       ONE-CUSTOMER.
           DISPLAY CUST-NUMBER " " CUST-NAME " " CUST-TOWN.
           MOVE 0 TO TOTAL.
           MOVE CUST-NUMBER TO ORD-CUSTOMER.
           START ORD-FILE KEY IS EQUAL TO ORD-CUSTOMER
               INVALID KEY
                   CONTINUE
           END-START.
           PERFORM UNTIL ORD-STATUS NOT = "00"
               READ ORD-FILE NEXT RECORD
                   AT END
                       CONTINUE
                   NOT AT END
                       IF ORD-CUSTOMER = CUST-NUMBER
                           PERFORM ONE-ORDER
                       ELSE
                           MOVE "10" TO ORD-STATUS
                       END-IF
               END-READ
           END-PERFORM.
           IF TOTAL > 0
               MOVE TOTAL TO SHOWN
               DISPLAY "                    TOTAL " SHOWN
           END-IF.
       ONE-ORDER.
           MOVE ORD-AMOUNT TO SHOWN.
           DISPLAY "    " ORD-NUMBER " " ORD-DATE " " ORD-STATE "  "
               SHOWN.
           ADD ORD-AMOUNT TO TOTAL.
