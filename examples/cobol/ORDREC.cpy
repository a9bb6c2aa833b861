       FD  ORD-FILE.
       01  ORD-RECORD.
           05  ORD-NUMBER           PIC 9(8).
           05  ORD-CUSTOMER         PIC 9(6).
           05  ORD-DATE             PIC 9(8).
           05  ORD-STATE            PIC X.
               88  ORD-IS-NEW       VALUE "N".
               88  ORD-IS-SHIPPED   VALUE "S".
           05  ORD-AMOUNT           PIC 9(7)V99.
