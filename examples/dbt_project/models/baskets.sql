-- What is to be protected: at most one row for each customer and product.
select distinct tid, item
from {{ ref('sales') }}
