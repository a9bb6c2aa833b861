      *    The customer file: found by number, by name and by town.
           SELECT CUST-FILE ASSIGN TO "CUSTFILE"
               ORGANIZATION IS INDEXED
               ACCESS MODE IS DYNAMIC
               RECORD KEY IS CUST-NUMBER
               ALTERNATE RECORD KEY IS CUST-NAME WITH DUPLICATES
               ALTERNATE RECORD KEY IS CUST-TOWN WITH DUPLICATES
               FILE STATUS IS CUST-STATUS.
