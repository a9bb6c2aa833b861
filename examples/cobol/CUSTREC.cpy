       FD  CUST-FILE.
       01  CUST-RECORD.
           05  CUST-NUMBER          PIC 9(6).
           05  CUST-NAME            PIC X(20).
           05  CUST-TOWN            PIC X(15).
           05  CUST-LIMIT           PIC 9(7)V99.
