      *    The order file: found by number, by customer and by state.
           SELECT ORD-FILE ASSIGN TO "ORDFILE"
               ORGANIZATION IS INDEXED
               ACCESS MODE IS DYNAMIC
               RECORD KEY IS ORD-NUMBER
               ALTERNATE RECORD KEY IS ORD-CUSTOMER WITH DUPLICATES
               ALTERNATE RECORD KEY IS ORD-STATE WITH DUPLICATES
               FILE STATUS IS ORD-STATUS.
